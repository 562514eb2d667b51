-- :shard :job_id :tenant_id :version
-- Zero rows: the job never had that version.
select version, created_at, created_by, definition
from job_version
where shard_id = :shard and job_id = :job_id and tenant_id = :tenant_id and version = :version
