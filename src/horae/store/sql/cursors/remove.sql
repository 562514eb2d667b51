delete from job_cursor where shard_id = $1 and job_id = $2
