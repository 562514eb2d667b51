-- :shards :ids :attempts :tokens :deadlines
-- No row for an attempt: it is no longer theirs, or a shard is closed. A heartbeat never brings a deadline nearer.
update instance_live l
set deadline = greatest(l.deadline, g.deadline)
from unnest(:shards::smallint[], :ids::uuid[], :attempts::int[], :tokens::uuid[], :deadlines::timestamptz[])
     as g(shard_id, id, attempt, token, deadline)
where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
  and l.state not in ('INIT', 'FAIL', 'BLOCKED')
  and l.attempt = g.attempt and l.token = g.token
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning l.id, l.deadline
