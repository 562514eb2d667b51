-- :shards :instance_ids
-- The messages of single dead letters.
select d.instance_id, d.error_msg
from unnest(:shards::smallint[], :instance_ids::uuid[]) as g(shard_id, instance_id)
join dead_letter d on d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
