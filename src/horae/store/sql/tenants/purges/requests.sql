-- :limit :shards :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select i.ctid from idempotency i
    where i.shard_id = any(:shards::smallint[]) and i.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = i.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from idempotency i using gone where i.ctid = gone.ctid
returning i.shard_id
