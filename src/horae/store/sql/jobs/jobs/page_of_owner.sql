-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts :owner
-- Like `page`, for the jobs of one owner. A statement of its own, so that the index of owners can serve it.
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where j.owner = :owner and {job_filter}
order by j.name collate "C"
limit :limit
