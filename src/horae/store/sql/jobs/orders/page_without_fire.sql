-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts :owner :calendar
-- A page of living jobs without a next fire, by name, after the last one's.
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where c.next_fire_at is null
  and {job_owner_and_calendar}
  and {job_filter}
order by j.name collate "C"
limit :limit
