select held_from from job where shard_id = $1 and id = $2
