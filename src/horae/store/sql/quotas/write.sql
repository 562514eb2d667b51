-- No row for a key: its shard is not open here, and nothing was granted.
with asked as materialized (
    select * from unnest($1::smallint[], $2::uuid[], $3::text[], $4::float8[], $5::timestamptz[],
                         $6::int[], $7::int[], $8::float8[], $9::timestamptz[], $10::text[])
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
      and case when h.incarnation = $11 then poured.held = 0 and poured.wanted = 0 and poured.asked = 0
               else h.expires_at <= $12 end),
kept as (
    insert into quota_hold (shard_id, tenant_id, key, incarnation, held, wanted, asked, served_at, seen_at, expires_at)
    select shard_id, tenant_id, key, $11, held, wanted, asked, served_at, $12, $13
    from poured where held > 0 or wanted > 0 or asked > 0
    on conflict (shard_id, tenant_id, key, incarnation) do update
    set held = excluded.held, wanted = excluded.wanted, asked = excluded.asked,
        served_at = excluded.served_at, seen_at = excluded.seen_at, expires_at = excluded.expires_at)
select shard_id, tenant_id, key from poured
