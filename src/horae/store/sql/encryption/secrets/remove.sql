-- :shard :tenant_id :name :actor :now
-- Zero rows: the tenant has no such secret, or its shard is moving. The row stays without a value, for its copies.
update secret s
set sealed = null, changed_by = :actor, changed_at = :now, version = s.version + 1
where s.shard_id = :shard and s.tenant_id = :tenant_id and s.name = :name and s.sealed is not null
  and {fence}
returning s.name, s.version, s.changed_at, s.changed_by, s.hosts
