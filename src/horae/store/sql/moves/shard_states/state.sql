-- :shard
-- One row: every cell knows all shards.
select s.state, s.epoch from shard s where s.shard_id = :shard
