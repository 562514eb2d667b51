-- Zero rows: nothing of this source is that old here.
with gone as materialized (
    select r.ctid from source_repair r
    where r.source_id = $1 and r.id < $2
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    limit $3
    for update skip locked)
delete from source_repair r using gone where r.ctid = gone.ctid
returning r.id
