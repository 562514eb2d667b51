-- :shard :tenant_id :key :tokens :now :rate :depth
-- Zero rows: not so many tokens are left, or the shard is closed. Never more than the depth (:depth) are kept.
insert into quota_bucket as b (shard_id, tenant_id, key, tokens, refilled_at)
select :shard, :tenant_id, :key, :depth::float8 - :tokens::float8, :now
where :tokens <= :depth and {fence}
on conflict (shard_id, tenant_id, key) do update
set refilled_at = greatest(b.refilled_at, excluded.refilled_at),
    tokens = least(:depth, b.tokens + :rate::float8 * greatest(0, extract(epoch from :now - b.refilled_at))) - :tokens
where least(:depth, b.tokens + :rate * greatest(0, extract(epoch from :now - b.refilled_at))) >= :tokens
returning tokens
