-- Zero rows: the job is no longer in the status or version it was read in, or its shard is closed.
update job
set status = $4, held_from = $5, changed_at = $6
where shard_id = $1 and id = $2 and status = $3 and version = $7
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning id
