-- :limit :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select d.ctid from dead_letter d
    where d.job_id = :job_id and d.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = d.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from dead_letter d using gone where d.ctid = gone.ctid
returning d.shard_id
