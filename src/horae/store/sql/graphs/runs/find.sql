-- :shard :id :tenant_id
-- Zero rows: there is no such run, it is another tenant's, or it is older than those that are kept.
select r.id, r.job_id, r.job_version, r.fire_time, r.started_at, r.deadline_at, r.ended_at, r.state, r.blocked
from graph_run r
where r.shard_id = :shard and r.id = :id and r.tenant_id = :tenant_id
