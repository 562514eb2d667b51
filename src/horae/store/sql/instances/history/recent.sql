-- :tenant_id :job_ids :limit
-- The newest ended runs of each of these jobs, as many as the limit for each. Zero rows: none of them has ended a run.
-- `is not distinct from`: no index fits it, so that of the tenant is not taken for that of the job.
select g.job_id, r.id, r.state, r.fire_time, r.ended_at, r.duration_ms, r.error_code
from unnest(:job_ids::uuid[]) as g(job_id)
cross join lateral (
    select h.id, h.state, h.fire_time, h.ended_at, h.duration_ms, h.error_code
    from instance_history h
    where h.job_id = g.job_id and h.tenant_id is not distinct from :tenant_id
    order by h.fire_time desc
    limit :limit) r
