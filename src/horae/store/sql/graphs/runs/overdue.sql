-- :first_shards :last_shards :now :limit
-- Zero rows: no open run is past its deadline.
select r.shard_id, r.id, r.tenant_id, r.job_id, r.job_version, r.fire_time, r.attempt, r.token, r.blocked, r.deadline_at
from graph_run r
where r.ended_at is null and r.deadline_at <= :now
  and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
              where r.shard_id::int between run.first and run.last)
  and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
order by r.deadline_at
limit :limit
