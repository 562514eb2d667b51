-- Zero rows: nothing of this is left here.
with gone as materialized (
    select r.ctid from source_repair r
    where r.shard_id = any($2::smallint[]) and r.tenant_id = $3
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    limit $1
    for update skip locked)
delete from source_repair r using gone where r.ctid = gone.ctid
returning r.shard_id
