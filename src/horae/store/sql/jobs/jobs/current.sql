-- :tenant_id :shards :ids
-- Fewer rows than asked: a type whose copy has not arrived, or a shard that moved away.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, null::timestamptz as next_fire_at
from unnest(:shards::smallint[], :ids::uuid[]) as w(shard_id, job_id)
join job j on j.shard_id = any(array[w.shard_id]) and j.id between w.job_id and w.job_id and j.tenant_id = :tenant_id
union all
select r.home_shard, r.id, r.tenant_id, r.name, (r.body ->> 'version')::int, r.body ->> 'status',
       r.body -> 'definition', null
from unnest(:shards::smallint[], :ids::uuid[]) as w(shard_id, job_id)
join reference r on r.kind = 'job' and r.id = any(array[w.job_id]) and r.tenant_id = :tenant_id
