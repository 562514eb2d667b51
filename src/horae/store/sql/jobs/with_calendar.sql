-- The jobs of a tenant in this cell that name a calendar, by id; a page after the last one.
select j.shard_id, j.id, j.tenant_id, j.name, j.version, j.status, j.definition, c.next_fire_at
from job j
join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.tenant_id = $1 and j.status = 'ACTIVE' and j.id > $3
  and j.definition -> 'policies' ? 'calendars'
  and j.definition -> 'policies' -> 'calendars' @> jsonb_build_array(jsonb_build_object('calendar', $2::text))
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
order by j.id
limit $4
