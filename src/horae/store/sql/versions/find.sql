-- Zero rows: the job never had that version.
select version, created_at, created_by, definition
from job_version
where shard_id = $1 and job_id = $2 and tenant_id = $3 and version = $4
