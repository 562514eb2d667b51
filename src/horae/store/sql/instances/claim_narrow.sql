-- The claim of an owner of very few shards: their live rows by primary key. Zero rows as for the other claim.
-- The states are named from the other side, so that the due index (everyone's rows) does not match.
with picked as materialized (
    select shard_id, ctid from instance_live
    where shard_id = any($1::smallint[])
      and state not in ('RUNNING', 'BLOCKED') and queue is null
      and priority = $2 and lane = $3
      and due_at >= $4 and due_at <= $5
      and job_id <> all($9::uuid[])
    order by due_at
    limit $6
    for update skip locked)
update instance_live l
set state = 'RUNNING', attempt = l.attempt + 1, token = $7, owner = $8, changed_at = $5,
    deadline = $5 + l.slot_ms * interval '1 ms'
from picked
where l.ctid = picked.ctid                       -- locked above, so it cannot move; saves a descent per row
  and not exists (select from shard s where s.shard_id = picked.shard_id and s.state <> 'ACTIVE')
returning l.*
