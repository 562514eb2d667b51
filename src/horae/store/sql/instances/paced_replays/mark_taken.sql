-- :shards :instance_ids :are_refused :paced_replay_id :tenant_id
-- The dead letters that this transaction has replayed, or could not replay. No row for one: its shard is closed.
with given as materialized (
    select * from unnest(:shards::smallint[], :instance_ids::uuid[], :are_refused::boolean[])
         as g(shard_id, instance_id, is_refused))
update dead_letter d
set paced_replay_id = :paced_replay_id, paced_refused = g.is_refused
from given g
where d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
  and (d.tenant_id = :tenant_id) is true
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning d.instance_id
