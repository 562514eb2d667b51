-- Zero rows: not so many tokens are left, or the shard is closed. Never more than the depth ($7) are kept.
insert into quota_bucket as b (shard_id, tenant_id, key, tokens, refilled_at)
select $1, $2, $3, $7::float8 - $4::float8, $5
where $4 <= $7 and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
on conflict (shard_id, tenant_id, key) do update
set refilled_at = greatest(b.refilled_at, excluded.refilled_at),
    tokens = least($7, b.tokens + $6::float8 * greatest(0, extract(epoch from $5 - b.refilled_at))) - $4
where least($7, b.tokens + $6 * greatest(0, extract(epoch from $5 - b.refilled_at))) >= $4
returning tokens
