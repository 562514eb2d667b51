-- Zero rows: the tenant has no such channel, or its shard is moving. The row stays without a body, for its copies.
update channel c
set body = null, paused_at = null, changed_by = $5, changed_at = $6, version = c.version + 1
from channel b
where c.shard_id = $1 and c.tenant_id = $2 and c.kind = $3 and c.name = $4 and c.body is not null
  and (b.shard_id, b.tenant_id, b.kind, b.name) = (c.shard_id, c.tenant_id, c.kind, c.name)
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning c.id, c.tenant_id, c.name, c.version, c.created_at, c.changed_at, c.changed_by, c.paused_at, b.body
