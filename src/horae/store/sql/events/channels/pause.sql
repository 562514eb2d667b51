-- :shard :tenant_id :kind :name :actor :now :paused
-- Zero rows: the tenant has no such channel, or its shard is moving. One that is paused already stays so since then.
update channel c
set paused_at = case when :paused then coalesce(c.paused_at, :now) end,
    changed_by = :actor, changed_at = :now, version = c.version + 1
where c.shard_id = :shard and c.tenant_id = :tenant_id and c.kind = :kind and c.name = :name and c.body is not null
  and {fence}
returning c.id, c.tenant_id, c.name, c.version, c.created_at, c.changed_at, c.changed_by, c.paused_at, c.body
