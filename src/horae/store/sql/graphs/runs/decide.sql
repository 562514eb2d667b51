-- :shards :ids :blocked_flags
-- No row for a run: it has ended meanwhile. The same transaction holds its lock.
-- An open run is named by its state: `ended_at is null` would read the index of all open runs for each of them.
update graph_run r
set stale = false, blocked = g.blocked
from unnest(:shards::smallint[], :ids::uuid[], :blocked_flags::boolean[]) as g(shard_id, id, blocked)
where r.shard_id = any(array[g.shard_id]) and r.id between g.id and g.id and r.state = 'OPEN'
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning r.id
