-- :limit :shards :job_id :tenant_id
-- Zero rows: nothing of this is left here.
with gone as materialized (
    select v.ctid from subject_version v
    where v.shard_id = any(:shards::smallint[]) and v.job_id = :job_id and v.tenant_id = :tenant_id
      and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from subject_version v using gone where v.ctid = gone.ctid
returning v.shard_id
