-- Zero rows: nothing of this is left here.
with gone as materialized (
    select v.ctid from job_version v
    where v.shard_id = $2 and v.job_id = $3 and v.tenant_id = $4
      and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from job_version v using gone where v.ctid = gone.ctid
returning v.shard_id
