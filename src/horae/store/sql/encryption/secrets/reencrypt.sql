-- :shard :tenant_id :name :version :encrypted_value :now
-- Zero rows: it was changed meanwhile, or its shard is moving.
update secret s
set sealed = :encrypted_value, changed_at = :now, version = s.version + 1
where s.shard_id = :shard and s.tenant_id = :tenant_id and s.name = :name and s.version = :version
  and s.sealed is not null
  and {fence}
returning s.name
