-- Zero rows: nothing of this job waits for a later retry here.
-- $6: the job is spread, so each of its rows has a key; they are found by it among all others of their shards.
select l.id
from (select * from instance_live
      where $6 and shard_id = any($2::smallint[]) and job_id = $3 and business_key is not null
      union all
      select * from instance_live where not $6 and shard_id = any($2::smallint[]) and job_id = $3) l
where l.tenant_id = $1 and l.state not in ('INIT', 'RUNNING', 'BLOCKED') and l.due_at > $5
limit $4
