-- Fewer rows than asked: those were taken from us meanwhile.
update shard set owner = null, epoch = epoch + 1
where owner = $1 and shard_id = any($2::smallint[])
returning shard_id
