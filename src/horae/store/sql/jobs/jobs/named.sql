-- :tenant_id :shards :names
-- Fewer rows than asked: nothing living has those names.
select {job_columns}
from unnest(:shards::smallint[], :names::text[]) as w(shard_id, name)
join job j on j.shard_id = w.shard_id and j.tenant_id = :tenant_id and j.name = w.name and j.status <> 'REMOVED'
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
