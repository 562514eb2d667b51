-- :tenant_id
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.tenant_id = :tenant_id and j.status <> 'REMOVED' and not j.definition ? 'step_of'  -- step jobs are hidden
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
order by j.name
