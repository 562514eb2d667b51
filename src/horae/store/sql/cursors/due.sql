-- A page per priority: those behind the mark, up to a time. No sort, however long the backlog.
select d.shard_id, d.job_id, d.next_fire_at, d.tenant_id, d.priority, 0::smallint, d.job_id, d.version, d.fired
from unnest($3::smallint[], $4::timestamptz[], $5::int[], $6::uuid[]) as mark(priority, at, shard_id, job_id)
cross join lateral (
    select shard_id, job_id, next_fire_at, tenant_id, priority, version, fired
    from job_cursor
    where priority = mark.priority
      and (next_fire_at, shard_id::int, job_id) > (mark.at, mark.shard_id, mark.job_id) and next_fire_at <= $7
      and shard_id::int between $1 and $2
      and tenant_id <> all($8::uuid[]) and ($9::uuid is null or tenant_id = $9)
    order by next_fire_at, shard_id::int, job_id
    limit $10) d
