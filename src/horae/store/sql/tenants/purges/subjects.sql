-- :limit :shards :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select u.ctid from subject u
    where u.shard_id = any(:shards::smallint[]) and u.job_id = :job_id and u.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = u.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from subject u using gone where u.ctid = gone.ctid
returning u.shard_id
