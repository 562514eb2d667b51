-- Fewer rows than asked: those were open here already.
update shard set state = 'ACTIVE', epoch = epoch + 1 where shard_id = any($1::smallint[]) and state <> 'ACTIVE'
