-- :first_shards :last_shards :without_tenant_ids :without_job_ids :now :limit
-- Zero rows: no fire of a graph waits to be started.
select l.shard_id, l.id, l.tenant_id, l.job_id, l.job_version, l.fire_time
from instance_live l
where l.queue = 'horae.graphs' and l.state in ('INIT', 'FAIL') and l.due_at <= :now
  and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
              where l.shard_id::int between run.first and run.last)
  and l.tenant_id <> all(:without_tenant_ids::uuid[]) and l.job_id <> all(:without_job_ids::uuid[])
  and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = l.tenant_id and pj.id = l.job_id)
  and not exists (select from shard s where s.shard_id = l.shard_id and s.state <> 'ACTIVE')
order by l.due_at
limit :limit
