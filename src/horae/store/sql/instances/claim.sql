-- Fewer rows than asked is normal. Zero: someone else has them, their time has moved, or their shard is closed.
with picked as materialized (
    select shard_id, ctid from instance_live
    where state in ('INIT', 'FAIL') and queue is null
      and priority = $3 and lane = $4            -- one class a call: no sort, however long the backlog
      and due_at >= $5 and due_at <= $6          -- $5: the front already looked at; the sweep resets it
      and shard_id::int between $1 and $2        -- one run of shards, filtered inside the index
      and job_id <> all($10::uuid[])             -- paused jobs
    order by due_at
    limit $7
    for update skip locked)
update instance_live l
set state = 'RUNNING', attempt = l.attempt + 1, token = $8, owner = $9, changed_at = $6,
    deadline = $6 + l.slot_ms * interval '1 ms'
from picked
where l.ctid = picked.ctid                       -- locked above, so it cannot move; saves a descent per row
  and not exists (select from shard s where s.shard_id = picked.shard_id and s.state <> 'ACTIVE')
returning l.*
