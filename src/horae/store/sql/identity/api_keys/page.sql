-- :tenant_id :after_id :limit
-- A tenant's keys in the order of their creation, after the last one seen; revoked ones, too.
select id, tenant_id, name, digest, scopes, job_labels, created_by, created_at, expires_at, revoked_at,
       last_used_at
from api_key where tenant_id = :tenant_id and id > :after_id
order by id limit :limit
