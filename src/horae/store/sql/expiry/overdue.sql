-- A page per class of what we push ourselves and what is due: those behind the mark. No sort, however long the backlog.
select d.*
from unnest($3::smallint[], $4::smallint[], $5::timestamptz[], $6::int[], $7::uuid[])
     as mark(priority, lane, at, shard_id, id)
cross join lateral (
    select shard_id, id, tenant_id, job_id, job_version, fire_time, due_at, state, priority, lane, attempt, retry_count,
           business_key, error_msg
    from instance_live
    where state in ('INIT', 'FAIL') and queue is null
      and priority = mark.priority and lane = mark.lane
      and (due_at, shard_id::int, id) > (mark.at, mark.shard_id, mark.id) and due_at <= $8
      and shard_id::int between $1 and $2
    order by due_at, shard_id::int, id
    limit $9) d
