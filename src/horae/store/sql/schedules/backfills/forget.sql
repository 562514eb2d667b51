-- :before :limit
-- Zero rows: none has ended so long ago, or its shard is moving.
with old as materialized (
    select b.ctid from backfill b
    where b.ended_at < :before
      and not exists (select from shard s where s.shard_id = b.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from backfill b using old where b.ctid = old.ctid
returning b.shard_id
