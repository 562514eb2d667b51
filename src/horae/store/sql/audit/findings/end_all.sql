-- :shards :job_ids :fire_times :faults :now
-- Fewer rows than given: some have ended already, or their shard is closed.
update fire_finding f
set ended_at = :now
from unnest(:shards::smallint[], :job_ids::uuid[], :fire_times::timestamptz[], :faults::text[])
     as g(shard_id, job_id, fire_time, fault)
where (f.shard_id, f.job_id, f.fire_time, f.fault) = (g.shard_id, g.job_id, g.fire_time, g.fault)
  and f.ended_at is null
  and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
returning f.shard_id, f.job_id, f.fire_time, f.fault, f.found_at, f.tenant_id
