-- :limit :shard :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select j.ctid from job j
    where j.shard_id = :shard and j.id = :job_id and j.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from job j using gone where j.ctid = gone.ctid
returning j.shard_id
