-- :shard :target_epoch
-- Zero rows: the shard is active here already, or another coordinator has prepared the move since.
update shard s set state = 'ACTIVE', epoch = s.epoch + 1
where s.shard_id = :shard and s.state = 'ELSEWHERE' and s.epoch = :target_epoch
returning s.epoch
