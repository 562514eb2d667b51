-- Zero rows: the tenant has no such secret, or its shard is moving. The row stays without a value, for its copies.
update secret s
set sealed = null, changed_by = $4, changed_at = $5, version = s.version + 1
where s.shard_id = $1 and s.tenant_id = $2 and s.name = $3 and s.sealed is not null
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning s.name, s.version, s.changed_at, s.changed_by, s.hosts
