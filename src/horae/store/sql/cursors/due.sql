-- One priority and one run of shards a call: no sort, however long the backlog.
-- $4 is the front already looked at; the sweep resets it.
select shard_id, job_id, version, next_fire_at, fired
from job_cursor
where priority = $3 and next_fire_at >= $4 and next_fire_at <= $5
  and shard_id::int between $1 and $2
order by next_fire_at
limit $6
