-- :shard :tenant_id :kind :name :actor :now
-- Zero rows: the tenant has no such channel, or its shard is moving.
update channel c
set changed_by = :actor, changed_at = :now, version = c.version + 1
where c.shard_id = :shard and c.tenant_id = :tenant_id and c.kind = :kind and c.name = :name and c.body is not null
  and {fence}
returning c.id, c.tenant_id, c.name, c.version, c.created_at, c.changed_at, c.changed_by, c.paused_at, c.body
