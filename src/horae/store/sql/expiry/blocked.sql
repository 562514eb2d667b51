-- A page of what waits behind another fire of its job, after the last page's.
select shard_id, id, tenant_id, job_id, job_version, fire_time, due_at, state, priority, lane, attempt, retry_count,
       business_key, error_msg
from instance_live
where exclusive and state = 'BLOCKED'
  and (shard_id, job_id, id) > ($3::smallint, $4::uuid, $5::uuid) and shard_id between $1::smallint and $2::smallint
order by shard_id, job_id, id
limit $6
