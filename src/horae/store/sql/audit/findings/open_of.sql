-- :shards :job_ids
-- The open findings of these jobs.
select f.shard_id, f.job_id, f.fire_time, f.fault, f.found_at
from unnest(:shards::smallint[], :job_ids::uuid[]) as g(shard_id, job_id)
join fire_finding f on f.shard_id = g.shard_id and f.job_id = g.job_id
where f.ended_at is null
