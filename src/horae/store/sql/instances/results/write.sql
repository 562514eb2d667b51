-- :shards :instance_ids :tenant_ids :bodies :now
-- Its transaction has ended these instances before, under the fence.
insert into instance_result (ended_at, shard_id, instance_id, tenant_id, body)
select :now, g.shard_id, g.instance_id, g.tenant_id, g.body
from unnest(:shards::smallint[], :instance_ids::uuid[], :tenant_ids::uuid[], :bodies::jsonb[])
     as g(shard_id, instance_id, tenant_id, body)
