-- The claim of an owner of very few shards: their live rows by primary key. Zero rows as for the other claim.
with picked as materialized (
    select shard_id, id from instance_live
    where shard_id = any($1::smallint[])
      and state in ('INIT', 'FAIL') and queue is null
      and priority + 0 = $2 and lane + 0 = $3    -- not the due index: it would read everyone's rows
      and due_at >= $4 and due_at <= $5
      and job_id <> all($9::uuid[])
    order by due_at
    limit $6
    for update skip locked)
update instance_live l
set state = 'RUNNING', attempt = l.attempt + 1, token = $7, owner = $8, changed_at = $5,
    deadline = $5 + l.slot_ms * interval '1 ms'
from picked
where (l.shard_id, l.id) between (picked.shard_id, picked.id) and (picked.shard_id, picked.id)
  and not exists (select from shard s where s.shard_id = picked.shard_id and s.state <> 'ACTIVE')
returning l.*
