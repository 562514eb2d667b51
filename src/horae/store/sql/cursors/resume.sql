update job_cursor set next_fire_at = $3 where shard_id = $1 and job_id = $2
