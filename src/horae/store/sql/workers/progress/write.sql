-- :shards :ids :attempts :tokens :progresses
-- No row for an attempt: it is no longer theirs. The heartbeat before it in the transaction had the fence.
update instance_live l
set progress = g.progress
from unnest(:shards::smallint[], :ids::uuid[], :attempts::int[], :tokens::uuid[], :progresses::jsonb[])
     as g(shard_id, id, attempt, token, progress)
where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
  and l.state not in ('INIT', 'FAIL', 'BLOCKED')
  and l.attempt = g.attempt and l.token = g.token
