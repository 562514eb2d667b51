-- :shard :tenant_id :kind :name :actor :now
-- Zero rows: the tenant has no such channel, or its shard is moving. The row stays without a body, for its copies.
update channel c
set body = null, paused_at = null, changed_by = :actor, changed_at = :now, version = c.version + 1
from channel b
where c.shard_id = :shard and c.tenant_id = :tenant_id and c.kind = :kind and c.name = :name and c.body is not null
  and (b.shard_id, b.tenant_id, b.kind, b.name) = (c.shard_id, c.tenant_id, c.kind, c.name)
  and {fence}
returning c.id, c.tenant_id, c.name, c.version, c.created_at, c.changed_at, c.changed_by, c.paused_at, b.body
