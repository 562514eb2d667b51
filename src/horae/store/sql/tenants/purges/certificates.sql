-- :limit :shards :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select c.ctid from certificate c
    where c.shard_id = any(:shards::smallint[]) and c.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = c.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from certificate c using gone where c.ctid = gone.ctid
returning c.shard_id
