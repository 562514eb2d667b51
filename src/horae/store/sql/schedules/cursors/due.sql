-- :first_shard :last_shard :mark_priorities :mark_times :mark_shards :mark_job_ids :until :without_tenant_ids :tenant_id :limit
-- A page per priority: those behind the mark, up to a time. No sort, however long the backlog.
select d.shard_id, d.job_id, d.next_fire_at, d.tenant_id, d.priority, 0::smallint, d.job_id, d.version, d.fired
from unnest(:mark_priorities::smallint[], :mark_times::timestamptz[], :mark_shards::int[], :mark_job_ids::uuid[])
     as mark(priority, at, shard_id, job_id)
cross join lateral (
    select shard_id, job_id, next_fire_at, tenant_id, priority, version, fired
    from job_cursor
    where priority = mark.priority
      and (next_fire_at, shard_id::int, job_id) > (mark.at, mark.shard_id, mark.job_id) and next_fire_at <= :until
      and shard_id::int between :first_shard and :last_shard
      and tenant_id <> all(:without_tenant_ids::uuid[]) and (:tenant_id::uuid is null or tenant_id = :tenant_id)
    order by next_fire_at, shard_id::int, job_id
    limit :limit) d
