-- Fewer rows than asked: those were not open here.
update shard
set state = 'FROZEN', epoch = epoch + 1, owner = null
where shard_id = any($1::smallint[]) and state = 'ACTIVE'
