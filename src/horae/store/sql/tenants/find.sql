select id, name, width, zone from tenant where shard_id = $1 and name = $2
