-- :principal :now
-- Zero rows: nothing of that principal is open in this cell, or its shards are moving.
update session v
set ended_at = :now
where v.principal = :principal and v.ended_at is null and v.expires_at > :now
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.id
