-- :shards :tenant_ids :keys :tokens :now
-- Fewer rows than asked: someone made them at the same time, or their shard is not open here.
insert into quota_bucket (shard_id, tenant_id, key, tokens, refilled_at)
select asked.shard_id, asked.tenant_id, asked.key, asked.tokens, :now
from unnest(:shards::smallint[], :tenant_ids::uuid[], :keys::text[], :tokens::float8[])
     as asked (shard_id, tenant_id, key, tokens)
where not exists (select from shard s where s.shard_id = asked.shard_id and s.state <> 'ACTIVE')
order by 1, 2, 3
on conflict (shard_id, tenant_id, key) do nothing
