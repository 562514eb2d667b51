-- :before :limit
-- Zero rows: none has ended so long ago, or its shard is moving.
with old as materialized (
    select p.ctid from paced_replay p
    where p.ended_at < :before
      and not exists (select from shard s where s.shard_id = p.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update skip locked)
delete from paced_replay p using old where p.ctid = old.ctid
returning p.shard_id
