-- :shard :job_id :from_version :from_fire_at :to_version :priority :to_fire_at
-- Zero rows: it has fired since it was read, the job was changed by someone else, or the shard is closed. Read again.
update job_cursor
set version = :to_version, priority = :priority, next_fire_at = :to_fire_at
where shard_id = :shard and job_id = :job_id and version = :from_version
  and next_fire_at is not distinct from :from_fire_at::timestamptz
  and {fence}
returning job_id
