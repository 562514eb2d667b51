-- :first_shard :last_shard :after_shard :after_id :release :limit
-- A page of jobs by their keys, current ones too: what one statement reads does not grow with the number of jobs.
-- The definition comes only where a cron job of a zone was planned by other rules.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, c.next_fire_at, c.fired,
       case when c.job_id is not null
             and j.status = 'ACTIVE'
             and j.definition #>> '{trigger,kind}' = 'cron'
             and coalesce(j.definition #>> '{trigger,zone}', 'UTC') <> 'UTC'
             and coalesce(j.definition #>> '{trigger,tzdata}', '') <> :release
            then j.definition end as definition
from (
    select shard_id, id, tenant_id, name, version, status, definition
    from job
    where (shard_id, id) > (:after_shard::smallint, :after_id::uuid)
      and shard_id between :first_shard::smallint and :last_shard::smallint
    order by shard_id, id
    limit :limit) j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
