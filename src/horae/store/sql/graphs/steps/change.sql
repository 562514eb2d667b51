-- :shards :run_ids :positions :states :generations :reasons :now
-- No row for a step: its shard is closed. The same transaction holds its run.
update graph_step t
set state = g.state, generation = g.generation, reason = g.reason, changed_at = :now,
    instance_id = case when g.state = 'WAITING' then null else t.instance_id end,
    children = case when g.state = 'WAITING' and g.generation <> t.generation then null else t.children end
from unnest(:shards::smallint[], :run_ids::uuid[], :positions::smallint[], :states::text[], :generations::int[],
            :reasons::text[])
     as g(shard_id, run_id, position, state, generation, reason)
where t.shard_id = any(array[g.shard_id]) and t.run_id between g.run_id and g.run_id and t.position = g.position
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning t.position
