-- :shard :id :now
-- Zero rows: another process said so within the minute, it has ended, or the shard is moving.
update session v
set seen_at = :now::timestamptz
where v.shard_id = :shard and v.id = :id and v.ended_at is null and v.seen_at < :now::timestamptz - interval '1 minute'
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.id
