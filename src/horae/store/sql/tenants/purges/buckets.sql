-- :limit :shards :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select q.ctid from quota_bucket q
    where q.shard_id = any(:shards::smallint[]) and q.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = q.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from quota_bucket q using gone where q.ctid = gone.ctid
returning q.shard_id
