-- :shards :ids
-- Fewer rows than asked: the others were deleted, or their home is another cell.
select j.id from unnest(:shards::smallint[], :ids::uuid[]) as w(shard_id, id)
join job j on j.shard_id = w.shard_id and j.id = w.id
