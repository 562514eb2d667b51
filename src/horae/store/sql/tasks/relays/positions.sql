-- :first_shard :last_shard
-- No row for a shard: nothing of it was ever relayed.
select shard_id, xid from relay where shard_id between :first_shard and :last_shard
