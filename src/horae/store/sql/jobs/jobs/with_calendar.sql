-- :tenant_id :calendar :after_id :limit
-- The jobs of a tenant in this cell that name a calendar, by id; a page after the last one.
select {job_columns}
from job j
join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.tenant_id = :tenant_id and j.status = 'ACTIVE' and j.id > :after_id
  and j.definition -> 'policies' ? 'calendars'
  and j.definition -> 'policies' -> 'calendars' @> jsonb_build_array(jsonb_build_object('calendar', :calendar::text))
  and not exists (select from shard s where s.shard_id = j.shard_id and s.state <> 'ACTIVE')
order by j.id
limit :limit
