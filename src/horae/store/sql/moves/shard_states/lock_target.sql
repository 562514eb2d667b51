-- :shard :target_epoch
-- Zero rows: the shard is active here, or another coordinator has prepared the move since. The row stays locked until
-- the end of the transaction, so the shard does not become active in between.
select s.epoch from shard s
where s.shard_id = :shard and s.state = 'ELSEWHERE' and s.epoch = :target_epoch
for update
