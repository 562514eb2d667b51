-- :first_shard :last_shard :after_deadline :after_id :limit
-- What targets have accepted and not ended yet, by deadline, page after page.
select l.shard_id, l.id, l.attempt, l.token, l.tenant_id, l.job_id, l.job_version, l.deadline
from instance_live l
where l.state = 'RUNNING' and (l.deadline, l.id) > (:after_deadline::timestamptz, :after_id::uuid)
  and l.shard_id between :first_shard and :last_shard and l.worker_id = 'target'
order by l.deadline, l.id
limit :limit
