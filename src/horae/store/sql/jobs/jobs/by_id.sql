-- :shard :id :tenant_id
-- Zero rows: no job of this tenant has that id. Removed ones are there for their history.
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.shard_id = :shard and j.id = :id and j.tenant_id = :tenant_id
