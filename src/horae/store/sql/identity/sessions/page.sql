-- :tenant_id :after_id :now :limit
-- A tenant's sessions that may still be good, in the order of their creation, after the last one seen.
select id, tenant_id, digest, principal, name, groups, key_id, created_at, seen_at, expires_at, idle_s, ended_at
from session where tenant_id = :tenant_id and id > :after_id and ended_at is null and expires_at > :now
order by id limit :limit
