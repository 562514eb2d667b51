-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts :owner :calendar :mark_at :mark_name
-- A page of living jobs with a next fire, the soonest first, after the mark; `after_name` is empty. All jobs of the
-- tenant are read and sorted: for tenants with few of them. No index of a tenant's jobs has this order, because each fire
-- would have to write to it.
select {job_columns}
from job j
join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where c.next_fire_at is not null
  and (c.next_fire_at, j.name collate "C")
      > (coalesce(:mark_at::timestamptz, '-infinity'), :mark_name::text collate "C")
  and {job_owner_and_calendar}
  and {job_filter}
order by c.next_fire_at, j.name collate "C"
limit :limit
