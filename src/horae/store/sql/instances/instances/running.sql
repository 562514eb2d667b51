-- :shards :ids :attempts :tokens
-- No row for an attempt: it has ended, or is another attempt by now.
select l.id, l.attempt
from unnest(:shards::smallint[], :ids::uuid[], :attempts::int[], :tokens::uuid[]) as g(shard_id, id, attempt, token)
join instance_live l on l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
where l.state not in ('INIT', 'FAIL', 'BLOCKED') and l.attempt = g.attempt and l.token = g.token
