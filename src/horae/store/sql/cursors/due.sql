-- One priority a call: no sort, however long the backlog. $3: the front already looked at; the sweep resets it.
select shard_id, job_id, version, next_fire_at
from job_cursor
where priority = $2 and next_fire_at >= $3 and next_fire_at <= $4
  and shard_id = any($1::smallint[])
order by next_fire_at
limit $5
