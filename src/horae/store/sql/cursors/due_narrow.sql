-- For an owner of very few shards: all their cursors by primary key, instead of everyone's by time.
-- The sums keep the due index out of it: the planner would read it from end to end.
select shard_id, job_id, version, next_fire_at
from job_cursor
where shard_id = any($1::smallint[])
  and priority + 0 = $2
  and next_fire_at + interval '0' >= $3 and next_fire_at + interval '0' <= $4
order by next_fire_at + interval '0'
limit $5
