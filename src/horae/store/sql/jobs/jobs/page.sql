-- :tenant_id :after_name :prefix :status :labels :label_names :limit :trigger_kind :name_part :names :target_parts
-- A page of living jobs by name, after the last one's. Names are compared byte by byte, so that all cells agree.
select {job_columns}
from job j
left join job_cursor c on (c.shard_id, c.job_id) = (j.shard_id, j.id)
where {job_filter}
order by j.name collate "C"
limit :limit
