-- :shards :run_ids
-- No row for a run: its instance has ended.
select l.id, l.idem_key, l.payload
from unnest(:shards::smallint[], :run_ids::uuid[]) as g(shard_id, run_id)
join instance_live l on l.shard_id = any(array[g.shard_id]) and l.id between g.run_id and g.run_id
