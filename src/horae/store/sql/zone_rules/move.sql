-- No row for a cursor: it has fired since it was read, the job was changed, or a shard is closed. Read again.
-- The sum keeps the due index out of it: without the priority the planner would read it from end to end.
update job_cursor c
set next_fire_at = f.wake
from unnest($1::smallint[], $2::uuid[], $3::int[], $4::timestamptz[], $5::timestamptz[])
     as f(shard_id, job_id, version, stood_at, wake)
where c.shard_id = any(array[f.shard_id]) and c.job_id between f.job_id and f.job_id and c.version = f.version
  and c.next_fire_at + interval '0' = f.stood_at
  and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
returning c.job_id
