-- :shards
-- Fewer rows than asked: those were not open here.
update shard
set state = 'FROZEN', epoch = epoch + 1, owner = null
where shard_id = any(:shards::smallint[]) and state = 'ACTIVE'
