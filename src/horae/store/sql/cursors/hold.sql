-- Null: the cursor stood nowhere, because the job had no fire left.
with stood as materialized (
    select shard_id, job_id, next_fire_at from job_cursor where shard_id = $1 and job_id = $2 for update)
update job_cursor c
set next_fire_at = null
from stood
where (c.shard_id, c.job_id) = (stood.shard_id, stood.job_id)
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning stood.next_fire_at
