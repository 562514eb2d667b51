-- :first_shard :last_shard :after_shard :after_job_id :after_instance_id :limit
-- A page of what waits behind another fire of its job, after the last page's.
select shard_id, id, tenant_id, job_id, job_version, fire_time, due_at, state, priority, lane, attempt, retry_count,
       business_key, error_msg
from instance_live
where exclusive and state = 'BLOCKED'
  and (shard_id, job_id, id) > (:after_shard::smallint, :after_job_id::uuid, :after_instance_id::uuid)
  and shard_id between :first_shard::smallint and :last_shard::smallint
order by shard_id, job_id, id
limit :limit
