-- :shards :job_ids :versions :release
-- Fewer rows than asked: those have a new version, which says by which rules it was planned, or a shard is closed.
update job j
set definition = jsonb_set(j.definition, '{trigger,tzdata}', to_jsonb(:release::text))
from unnest(:shards::smallint[], :job_ids::uuid[], :versions::int[]) as f(shard_id, job_id, version)
where j.shard_id = any(array[f.shard_id]) and j.id between f.job_id and f.job_id and j.version = f.version
  and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
returning j.id
