-- :shard :tenant_id :name
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.shard_id = :shard and j.tenant_id = :tenant_id and j.name = :name and j.status <> 'REMOVED'
