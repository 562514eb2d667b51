-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts :owner :calendar :mark_at :mark_name
-- A page of living jobs by their last change, the newest first, after the mark; `after_name` is empty.
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where (j.changed_at, j.name collate "C") < (coalesce(:mark_at::timestamptz, 'infinity'), :mark_name::text collate "C")
  and {job_owner_and_calendar}
  and {job_filter}
order by j.changed_at desc, j.name collate "C" desc
limit :limit
