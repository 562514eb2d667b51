-- :shards :mark_priorities :mark_times :mark_shards :mark_job_ids :until :without_tenant_ids :tenant_id :limit
-- The look of an owner of very few shards: their cursors by primary key, instead of everyone's by time.
-- The sums keep the due index out of it: the planner would read it from end to end.
select d.shard_id, d.job_id, d.next_fire_at, d.tenant_id, d.priority, 0::smallint, d.job_id, d.version, d.fired
from unnest(:mark_priorities::smallint[], :mark_times::timestamptz[], :mark_shards::int[], :mark_job_ids::uuid[])
     as mark(priority, at, shard_id, job_id)
cross join lateral (
    select shard_id, job_id, next_fire_at, tenant_id, priority, version, fired
    from job_cursor
    where shard_id = any(:shards::smallint[]) and priority + 0 = mark.priority
      and (next_fire_at + interval '0', shard_id::int, job_id) > (mark.at, mark.shard_id, mark.job_id)
      and next_fire_at + interval '0' <= :until
      and tenant_id <> all(:without_tenant_ids::uuid[]) and (:tenant_id::uuid is null or tenant_id = :tenant_id)
    order by next_fire_at + interval '0', shard_id::int, job_id
    limit :limit) d
