-- :limit :shards :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select r.ctid from fire_finding r
    where r.shard_id = any(:shards::smallint[]) and r.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from fire_finding r using gone where r.ctid = gone.ctid
returning r.shard_id
