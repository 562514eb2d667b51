-- :shards :job_ids :versions
-- Fewer rows than asked: a type whose home is another cell, or a shard that moved away.
select v.shard_id, v.job_id, v.tenant_id, v.name, v.version, v.definition::text
from unnest(:shards::smallint[], :job_ids::uuid[], :versions::int[]) as w(shard_id, job_id, version)
join job_version v on (v.shard_id, v.job_id, v.version) = (w.shard_id, w.job_id, w.version)
