-- :limit :shard :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select c.ctid from job_cursor c
    where c.shard_id = :shard and c.job_id = :job_id and c.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = c.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from job_cursor c using gone where c.ctid = gone.ctid
returning c.shard_id
