-- Zero rows: another process said so within the minute, it has ended, or the shard is moving.
update session v
set seen_at = $3::timestamptz
where v.shard_id = $1 and v.id = $2 and v.ended_at is null and v.seen_at < $3::timestamptz - interval '1 minute'
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.id
