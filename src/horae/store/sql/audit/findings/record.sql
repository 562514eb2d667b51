-- :rows :now
-- Fewer rows than given: the shard of a job is closed.
insert into fire_finding as f (found_at, seen_at, fire_time, fires, shard_id, job_id, tenant_id, instance_id, fault, said)
select :now, :now, g.fire_time, g.fires, g.shard_id, g.job_id, g.tenant_id, g.instance_id, g.fault, g.said
from jsonb_populate_recordset(null::fire_finding, :rows) g
where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
on conflict (shard_id, job_id, fire_time, fault) do update
set seen_at = excluded.seen_at, fires = excluded.fires, said = excluded.said, instance_id = excluded.instance_id,
    found_at = case when f.ended_at is null then f.found_at else excluded.found_at end, ended_at = null
returning f.shard_id, f.job_id, f.fire_time, f.fault, f.found_at
