-- :limit :shards :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select p.ctid from paced_replay p
    where p.shard_id = any(:shards::smallint[]) and p.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = p.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from paced_replay p using gone where p.ctid = gone.ctid
returning p.shard_id
