-- A page of jobs by their keys, current ones too: what one statement reads does not grow with the number of jobs.
-- The definition comes only where a cron job of a zone was planned by other rules.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, c.next_fire_at, c.fired,
       case when c.job_id is not null
             and j.status = 'ACTIVE'
             and j.definition #>> '{trigger,kind}' = 'cron'
             and coalesce(j.definition #>> '{trigger,zone}', 'UTC') <> 'UTC'
             and coalesce(j.definition #>> '{trigger,tzdata}', '') <> $5
            then j.definition end as definition
from (
    select shard_id, id, tenant_id, name, version, status, definition
    from job
    where (shard_id, id) > ($3::smallint, $4::uuid) and shard_id between $1::smallint and $2::smallint
    order by shard_id, id
    limit $6) j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
