-- Zero rows: nothing of that principal is open in this cell, or its shards are moving.
update session v
set ended_at = $2
where v.principal = $1 and v.ended_at is null and v.expires_at > $2
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.id
