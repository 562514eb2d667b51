-- For an owner of very few shards: all their cursors by primary key, instead of everyone's by time.
select shard_id, job_id, version, next_fire_at
from job_cursor
where shard_id = any($1::smallint[])
  and priority + 0 = $2 and next_fire_at >= $3 and next_fire_at <= $4
order by next_fire_at
limit $5
