-- Zero rows: nothing of this is left here.
with gone as materialized (
    select k.ctid from task_key k
    where k.shard_id = any($2::smallint[]) and k.job_id = $3 and k.tenant_id = $4
      and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from task_key k using gone where k.ctid = gone.ctid
returning k.shard_id
