-- :first_shard :last_shard :mark_priorities :mark_lanes :mark_times :mark_shards :mark_ids :now :limit
-- A page per class of what we push ourselves and what is due: those behind the mark. No sort, however long the backlog.
select d.*
from unnest(:mark_priorities::smallint[], :mark_lanes::smallint[], :mark_times::timestamptz[], :mark_shards::int[],
            :mark_ids::uuid[])
     as mark(priority, lane, at, shard_id, id)
cross join lateral (
    select shard_id, id, tenant_id, job_id, job_version, fire_time, due_at, state, priority, lane, attempt, retry_count,
           business_key, error_msg
    from instance_live
    where state in ('INIT', 'FAIL') and queue is null
      and priority = mark.priority and lane = mark.lane
      and (due_at, shard_id::int, id) > (mark.at, mark.shard_id, mark.id) and due_at <= :now
      and shard_id::int between :first_shard and :last_shard
    order by due_at, shard_id::int, id
    limit :limit) d
