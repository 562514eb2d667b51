-- Fewer rows than asked: a type whose copy has not arrived.
select r.home_shard, r.id, r.tenant_id, r.name, w.version, (r.body -> 'definition')::text
from unnest($1::uuid[], $2::int[]) as w(job_id, version)
join reference r on r.kind = 'job' and r.id = w.job_id
