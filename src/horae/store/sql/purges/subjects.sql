-- Zero rows: nothing of this is left here.
with gone as materialized (
    select u.ctid from subject u
    where u.shard_id = any($2::smallint[]) and u.job_id = $3 and u.tenant_id = $4
      and not exists (select from shard s where s.shard_id = u.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from subject u using gone where u.ctid = gone.ctid
returning u.shard_id
