-- :shards :instance_ids :since
-- No row for an instance: it returned nothing, ended in another cell, or its day is dropped.
select r.instance_id, r.body
from unnest(:shards::smallint[], :instance_ids::uuid[]) as g(shard_id, instance_id)
join instance_result r on r.shard_id = any(array[g.shard_id]) and r.instance_id between g.instance_id and g.instance_id
where r.ended_at >= :since
