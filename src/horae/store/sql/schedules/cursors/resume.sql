-- :shard :job_id :next_fire_at :version
-- Zero rows: the job was changed by someone else.
update job_cursor set next_fire_at = :next_fire_at
where shard_id = :shard and job_id = :job_id and version = :version and next_fire_at is null
returning job_id
