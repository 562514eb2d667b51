-- Zero rows: nothing of this is left here.
with gone as materialized (
    select c.ctid from job_cursor c
    where c.shard_id = $2 and c.job_id = $3 and c.tenant_id = $4
      and not exists (select from shard s where s.shard_id = c.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from job_cursor c using gone where c.ctid = gone.ctid
returning c.shard_id
