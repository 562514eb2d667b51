-- Zero rows: no job of this tenant has that id. Removed ones are there for their history.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, c.next_fire_at
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.shard_id = $1 and j.id = $2 and j.tenant_id = $3
