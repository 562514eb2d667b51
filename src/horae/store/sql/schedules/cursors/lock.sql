-- :shard :job_id :version :next_fire_at :priority
-- Zero rows: another node fired it, or the job changed. By the due index, as it is fired.
select fired from job_cursor
where priority = :priority and next_fire_at = any(array[:next_fire_at::timestamptz])
  and shard_id::int = any(array[:shard::int]) and job_id between :job_id and :job_id
  and version = :version
for update
