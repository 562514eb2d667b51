-- :now :event :shards :tenant_ids :job_ids :instance_ids :bodies
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select :now, g.shard_id, g.tenant_id, g.job_id, g.instance_id, :event, g.body
from unnest(:shards::smallint[], :tenant_ids::uuid[], :job_ids::uuid[], :instance_ids::uuid[], :bodies::jsonb[])
     as g(shard_id, tenant_id, job_id, instance_id, body)
