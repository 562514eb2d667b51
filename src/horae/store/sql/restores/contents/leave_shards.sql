-- :shards
-- Zero rows: no shard has left.
update shard s set state = 'ELSEWHERE', epoch = s.epoch + 1, owner = null where s.shard_id = any(:shards::smallint[])
