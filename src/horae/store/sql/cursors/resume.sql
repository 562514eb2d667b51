-- Zero rows: the job was changed by someone else.
update job_cursor set next_fire_at = $3
where shard_id = $1 and job_id = $2 and version = $4 and next_fire_at is null
returning job_id
