-- :limit :shards :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select l.ctid from instance_live l
    where l.shard_id = any(:shards::smallint[]) and l.job_id = :job_id and l.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = l.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from instance_live l using gone where l.ctid = gone.ctid
returning l.shard_id
