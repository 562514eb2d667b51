-- :shards :instance_ids :cause_ids :replay_ids
-- No row for a dead letter: it was replayed since it was read, another node was faster, or its shard is closed.
-- Shard and id are guarded in a form that the partial indexes do not match.
with given as materialized (
    select * from unnest(:shards::smallint[], :instance_ids::uuid[], :cause_ids::uuid[], :replay_ids::uuid[])
         as g(shard_id, instance_id, cause_id, replay_id))
update dead_letter d
set cause_id = g.cause_id
from given g
where d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
  and d.cause_id is not distinct from null and d.replay_id is not distinct from g.replay_id
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning d.instance_id
