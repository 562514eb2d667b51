-- What targets have accepted and not ended yet, by deadline, page after page.
select l.shard_id, l.id, l.attempt, l.token, l.tenant_id, l.job_id, l.job_version, l.deadline
from instance_live l
where l.state = 'RUNNING' and (l.deadline, l.id) > ($3::timestamptz, $4::uuid)
  and l.shard_id between $1 and $2 and l.worker_id = 'target'
order by l.deadline, l.id
limit $5
