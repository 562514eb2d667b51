-- :shard :id
-- Zero rows: there is no such key, or its copy has not arrived here yet.
select id, tenant_id, name, digest, scopes, job_labels, created_by, created_at, expires_at, revoked_at,
       last_used_at
from api_key where shard_id = :shard and id = :id
