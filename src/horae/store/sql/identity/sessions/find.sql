-- :shard :id
-- Zero rows: there is no such session.
select id, tenant_id, digest, principal, name, groups, key_id, created_at, seen_at, expires_at, idle_s, ended_at
from session where shard_id = :shard and id = :id
