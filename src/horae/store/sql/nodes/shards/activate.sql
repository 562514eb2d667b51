-- :shards
-- Fewer rows than asked: those were open here already.
update shard set state = 'ACTIVE', epoch = epoch + 1 where shard_id = any(:shards::smallint[]) and state <> 'ACTIVE'
