-- The look of an owner of very few shards: their cursors by primary key, instead of everyone's by time.
-- The sums keep the due index out of it: the planner would read it from end to end.
select d.shard_id, d.job_id, d.next_fire_at, d.tenant_id, d.priority, 0::smallint, d.job_id, d.version, d.fired
from unnest($2::smallint[], $3::timestamptz[], $4::int[], $5::uuid[]) as mark(priority, at, shard_id, job_id)
cross join lateral (
    select shard_id, job_id, next_fire_at, tenant_id, priority, version, fired
    from job_cursor
    where shard_id = any($1::smallint[]) and priority + 0 = mark.priority
      and (next_fire_at + interval '0', shard_id::int, job_id) > (mark.at, mark.shard_id, mark.job_id)
      and next_fire_at + interval '0' <= $6
      and tenant_id <> all($7::uuid[]) and ($8::uuid is null or tenant_id = $8)
    order by next_fire_at + interval '0', shard_id::int, job_id
    limit $9) d
