-- Zero rows: another node fired it, or the job changed. By the due index, as it is fired.
select fired from job_cursor
where priority = $5 and next_fire_at = any(array[$4::timestamptz])
  and shard_id::int = any(array[$1::int]) and job_id between $2 and $2
  and version = $3
for update
