-- :job_id :tenant_id :before :limit
-- The newest runs of a graph before an id. Zero rows: there is none.
select r.id, r.job_id, r.job_version, r.fire_time, r.started_at, r.deadline_at, r.ended_at, r.state, r.blocked
from graph_run r
where r.job_id = :job_id and r.tenant_id = :tenant_id and r.id < :before
order by r.id desc
limit :limit
