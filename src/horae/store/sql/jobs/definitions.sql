-- Fewer rows than asked: a type whose copy has not arrived, or a shard that moved away.
select j.shard_id, j.id, j.tenant_id, j.name, v.version, j.status, v.definition::text, null::timestamptz as next_fire_at
from unnest($1::smallint[], $2::uuid[], $3::int[]) as w(shard_id, job_id, version)
join job_version v on (v.shard_id, v.job_id, v.version) = (w.shard_id, w.job_id, w.version)
join job j on (j.shard_id, j.id) = (v.shard_id, v.job_id)
union all
select r.home_shard, r.id, r.tenant_id, r.name, w.version, r.body ->> 'status', (r.body -> 'definition')::text, null
from unnest($1::smallint[], $2::uuid[], $3::int[]) as w(shard_id, job_id, version)
join reference r on r.kind = 'job' and r.id = w.job_id
where not exists (
    select from job_version v where (v.shard_id, v.job_id, v.version) = (w.shard_id, w.job_id, w.version))
