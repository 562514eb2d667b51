-- A page per class of what we push ourselves: those behind the mark, up to a time. No sort, however long the backlog.
select d.shard_id, d.id, d.due_at, d.tenant_id, d.priority, d.lane, d.job_id, d.job_version, null::int
from unnest($3::smallint[], $4::smallint[], $5::timestamptz[], $6::int[], $7::uuid[])
     as mark(priority, lane, at, shard_id, id)
cross join lateral (
    select shard_id, id, due_at, tenant_id, priority, lane, job_id, job_version
    from instance_live
    where state in ('INIT', 'FAIL') and queue is null
      and priority = mark.priority and lane = mark.lane
      and (due_at, shard_id::int, id) > (mark.at, mark.shard_id, mark.id) and due_at <= $8
      and shard_id::int between $1 and $2
      and tenant_id <> all($9::uuid[]) and ($10::uuid is null or tenant_id = $10)
    order by due_at, shard_id::int, id
    limit $11) d
