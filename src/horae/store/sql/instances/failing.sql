-- Zero rows: nothing of this job waits for a later retry here.
select l.id from instance_live l
where l.shard_id = any($2::smallint[]) and l.job_id = $3 and l.tenant_id = $1
  and l.state not in ('INIT', 'RUNNING', 'BLOCKED') and l.due_at > $5
limit $4
