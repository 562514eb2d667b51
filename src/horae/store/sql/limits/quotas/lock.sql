-- :shards :tenant_ids :keys
-- Fewer rows than asked: those keys were never asked for here. Locked in one order, whoever comes.
select b.shard_id, b.tenant_id, b.key, b.tokens, b.refilled_at, b.granted
from quota_bucket b
join unnest(:shards::smallint[], :tenant_ids::uuid[], :keys::text[]) as asked (shard_id, tenant_id, key)
  on b.shard_id = asked.shard_id and b.tenant_id = asked.tenant_id and b.key = asked.key
order by b.shard_id, b.tenant_id, b.key
for update of b
