-- Zero rows: nothing of this is left here.
with gone as materialized (
    select j.ctid from job j
    where j.shard_id = $2 and j.id = $3 and j.tenant_id = $4
      and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from job j using gone where j.ctid = gone.ctid
returning j.shard_id
