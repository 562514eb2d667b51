select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, c.next_fire_at
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.shard_id = $1 and j.tenant_id = $2 and j.name = $3 and j.status <> 'REMOVED'
