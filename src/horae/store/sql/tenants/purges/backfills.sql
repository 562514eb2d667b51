-- :limit :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select b.ctid from backfill b
    where b.job_id = :job_id and b.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from backfill b using gone where b.ctid = gone.ctid
returning b.shard_id
