-- :shard
-- Zero rows: the shard is active here, and the move cannot be aborted any more.
update shard s set epoch = s.epoch + 1 where s.shard_id = :shard and s.state = 'ELSEWHERE' returning s.epoch
