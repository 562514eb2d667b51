-- :shards :tenant_ids :keys :tokens :refill_times :held_tokens :wanted_tokens :asked_tokens :served_times :grants :incarnation :now :expires_at
-- No row for a key: its shard is not open here, and nothing was granted.
with asked as materialized (
    select * from unnest(:shards::smallint[], :tenant_ids::uuid[], :keys::text[], :tokens::float8[],
                         :refill_times::timestamptz[], :held_tokens::int[], :wanted_tokens::int[],
                         :asked_tokens::float8[], :served_times::timestamptz[], :grants::text[])
        as asked (shard_id, tenant_id, key, tokens, refilled_at, held, wanted, asked, served_at, granted)),
poured as (
    update quota_bucket b set tokens = asked.tokens, refilled_at = asked.refilled_at, granted = asked.granted::float8[]
    from asked
    where b.shard_id = asked.shard_id and b.tenant_id = asked.tenant_id and b.key = asked.key
      and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
    returning asked.*),
gone as (
    delete from quota_hold h using poured
    where h.shard_id = poured.shard_id and h.tenant_id = poured.tenant_id and h.key = poured.key
      and case when h.incarnation = :incarnation then poured.held = 0 and poured.wanted = 0 and poured.asked = 0
               else h.expires_at <= :now end),
kept as (
    insert into quota_hold (shard_id, tenant_id, key, incarnation, held, wanted, asked, served_at, seen_at, expires_at)
    select shard_id, tenant_id, key, :incarnation, held, wanted, asked, served_at, :now, :expires_at
    from poured where held > 0 or wanted > 0 or asked > 0
    on conflict (shard_id, tenant_id, key, incarnation) do update
    set held = excluded.held, wanted = excluded.wanted, asked = excluded.asked,
        served_at = excluded.served_at, seen_at = excluded.seen_at, expires_at = excluded.expires_at)
select shard_id, tenant_id, key from poured
