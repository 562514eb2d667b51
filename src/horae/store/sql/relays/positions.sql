-- No row for a shard: nothing of it was ever relayed.
select shard_id, xid from relay where shard_id between $1 and $2
