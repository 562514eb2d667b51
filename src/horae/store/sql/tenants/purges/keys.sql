-- :limit :shards :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select k.ctid from task_key k
    where k.shard_id = any(:shards::smallint[]) and k.job_id = :job_id and k.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from task_key k using gone where k.ctid = gone.ctid
returning k.shard_id
