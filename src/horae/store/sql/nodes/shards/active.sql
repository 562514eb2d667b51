select shard_id from shard where state = 'ACTIVE' order by shard_id
