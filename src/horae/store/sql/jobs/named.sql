-- Fewer rows than asked: nothing living has those names.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, c.next_fire_at
from unnest($2::smallint[], $3::text[]) as w(shard_id, name)
join job j on j.shard_id = w.shard_id and j.tenant_id = $1 and j.name = w.name and j.status <> 'REMOVED'
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
