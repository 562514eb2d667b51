-- :shard :id :from_status :to_status :held_from :now :version
-- Zero rows: the job is no longer in the status or version it was read in, or its shard is closed.
update job
set status = :to_status, held_from = :held_from, changed_at = :now
where shard_id = :shard and id = :id and status = :from_status and version = :version
  and {fence}
returning id
