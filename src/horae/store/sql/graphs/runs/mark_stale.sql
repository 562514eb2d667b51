-- :shards :ids
-- No row for a run: it is stale already, or its shard is closed. The same transaction holds its lock.
update graph_run r
set stale = true
from unnest(:shards::smallint[], :ids::uuid[]) as g(shard_id, id)
where r.shard_id = any(array[g.shard_id]) and r.id between g.id and g.id and r.state = 'OPEN' and not r.stale
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning r.id
