-- :shard :job_id :tenant_id :before_version :limit
-- Newest first, before a version.
select version, created_at, created_by, definition
from job_version
where shard_id = :shard and job_id = :job_id and tenant_id = :tenant_id and version < :before_version
order by version desc
limit :limit
