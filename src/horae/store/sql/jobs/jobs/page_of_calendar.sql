-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts :owner :calendar
-- Like `page`, for the active and paused jobs that name a calendar. They are found by two small indexes, because few of
-- very many jobs may name it: that of active jobs with calendars, and that of paused jobs.
select {job_columns}
from (
    select * from job a
    where a.tenant_id = :tenant_id and a.status = 'ACTIVE' and a.definition -> 'policies' ? 'calendars'
    union all
    select * from job p where p.tenant_id = :tenant_id and p.status = 'PAUSED'
) j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.definition -> 'policies' -> 'calendars' @> jsonb_build_array(jsonb_build_object('calendar', :calendar::text))
  and (:owner::text is null or j.owner = :owner)
  and {job_filter}
order by j.name collate "C"
limit :limit
