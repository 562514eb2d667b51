-- :tenant_id :shards :job_id :limit :now :spread
-- Zero rows: nothing of this job waits for a later retry here.
-- :spread: the job is spread, so each of its rows has a key; they are found by it among all others of their shards.
select l.id
from (select * from instance_live
      where :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id and business_key is not null
      union all
      select * from instance_live where not :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id) l
where l.tenant_id = :tenant_id and l.state not in ('INIT', 'RUNNING', 'BLOCKED') and l.due_at > :now
limit :limit
