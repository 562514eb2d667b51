-- A tenant's sessions that may still be good, in the order of their birth, after the last one seen.
select id, tenant_id, digest, principal, name, groups, key_id, created_at, seen_at, expires_at, idle_s, ended_at
from session where tenant_id = $1 and id > $2 and ended_at is null and expires_at > $3
order by id limit $4
