-- A tenant's keys in the order of their birth, after the last one seen; revoked ones, too.
select id, tenant_id, name, digest, scopes, created_by, created_at, expires_at, revoked_at, last_used_at
from api_key where tenant_id = $1 and id > $2
order by id limit $3
