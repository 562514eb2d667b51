-- :incarnation :shards
-- Fewer rows than asked: those were taken from us meanwhile.
update shard set owner = null, epoch = epoch + 1
where owner = :incarnation and shard_id = any(:shards::smallint[])
returning shard_id
