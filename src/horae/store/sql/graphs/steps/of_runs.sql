-- :shards :run_ids
select s.run_id, s.position, s.name, s.state, s.generation, s.instance_id, s.changed_at, s.reason,
       s.children
from unnest(:shards::smallint[], :run_ids::uuid[]) as g(shard_id, run_id)
join graph_step s on s.shard_id = any(array[g.shard_id]) and s.run_id between g.run_id and g.run_id
order by s.run_id, s.position
