-- Fewer rows than asked is normal. Zero: someone else has them, their time has moved, or a shard is closed.
with picked as materialized (
    select shard_id, id from instance_live
    where state in ('INIT', 'FAIL') and queue is null and priority = $2 and lane = $3   -- one class a call: no sort, however long the backlog
      and due_at >= $4 and due_at <= $5                               -- $4: the front already looked at; the sweep resets it
      and shard_id = any($1::smallint[])
      and job_id <> all($9::uuid[])                                   -- paused jobs
    order by due_at
    limit $6
    for update skip locked)
update instance_live l
set state = 'RUNNING', attempt = l.attempt + 1, token = $7, owner = $8, changed_at = $5,
    deadline = $5 + l.slot_ms * interval '1 ms'
from picked
where (l.shard_id, l.id) = (picked.shard_id, picked.id)
  and not exists (select from shard where shard_id = any($1) and state <> 'ACTIVE')
returning l.*
