-- :job_ids :versions
-- Fewer rows than asked: a type whose copy has not arrived, or is older than the version that was asked for.
select r.home_shard, r.id, r.tenant_id, r.name, (r.body ->> 'version')::int, (r.body -> 'definition')::text, w.version
from unnest(:job_ids::uuid[], :versions::int[]) as w(job_id, version)
join reference r on r.kind = 'job' and r.id = w.job_id
where (r.body ->> 'version')::int >= w.version
