-- :shard :job_id
-- Null: the cursor stood nowhere, because the job had no fire left.
with stood as materialized (
    select shard_id, job_id, next_fire_at from job_cursor where shard_id = :shard and job_id = :job_id for update)
update job_cursor c
set next_fire_at = null
from stood
where (c.shard_id, c.job_id) = (stood.shard_id, stood.job_id)
  and {fence}
returning stood.next_fire_at
