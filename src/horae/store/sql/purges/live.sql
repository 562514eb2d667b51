-- Zero rows: nothing of this is left here.
with gone as materialized (
    select l.ctid from instance_live l
    where l.shard_id = any($2::smallint[]) and l.job_id = $3 and l.tenant_id = $4
      and not exists (select from shard s where s.shard_id = l.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from instance_live l using gone where l.ctid = gone.ctid
returning l.shard_id
