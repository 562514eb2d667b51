-- :shards :mark_priorities :mark_lanes :mark_times :mark_shards :mark_ids :until :without_tenant_ids :tenant_id :limit
-- The look of an owner of very few shards: their live rows by primary key, sorted.
-- The states are named from the other side, so that the due index (everyone's rows) does not match.
select d.shard_id, d.id, d.due_at, d.tenant_id, d.priority, d.lane, d.job_id, d.job_version, null::int
from unnest(:mark_priorities::smallint[], :mark_lanes::smallint[], :mark_times::timestamptz[], :mark_shards::int[],
            :mark_ids::uuid[])
     as mark(priority, lane, at, shard_id, id)
cross join lateral (
    select shard_id, id, due_at, tenant_id, priority, lane, job_id, job_version
    from instance_live
    where shard_id = any(:shards::smallint[])
      and state not in ('RUNNING', 'BLOCKED') and queue is null
      and priority = mark.priority and lane = mark.lane
      and (due_at, shard_id::int, id) > (mark.at, mark.shard_id, mark.id) and due_at <= :until
      and tenant_id <> all(:without_tenant_ids::uuid[]) and (:tenant_id::uuid is null or tenant_id = :tenant_id)
    order by due_at, shard_id::int, id
    limit :limit) d
