-- Zero rows: it has fired since it was read, the job was changed by someone else, or the shard is closed. Read again.
update job_cursor
set version = $5, priority = $6, next_fire_at = $7
where shard_id = $1 and job_id = $2 and version = $3 and next_fire_at is not distinct from $4::timestamptz
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning job_id
