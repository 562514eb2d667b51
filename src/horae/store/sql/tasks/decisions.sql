select decisions from task_key where shard_id = $1 and job_id = $2 and business_key = $3
