-- :shards :job_ids
-- What their versions say about their fires, and nothing else of them.
select v.job_id, v.version, v.created_at, v.definition -> 'trigger', v.definition -> 'policies',
       v.definition -> 'overrides'
from unnest(:shards::smallint[], :job_ids::uuid[]) as g(shard_id, job_id)
join job_version v on v.shard_id = g.shard_id and v.job_id = g.job_id
