-- :source_id :before_id :limit
-- Zero rows: nothing of this source is that old here.
with gone as materialized (
    select r.ctid from source_repair r
    where r.source_id = :source_id and r.id < :before_id
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from source_repair r using gone where r.ctid = gone.ctid
returning r.id
