-- :shard :tenant_id
-- Zero rows: no secret of the tenant is left here, neither at home nor copied.
delete from secret s where s.shard_id = :shard and s.tenant_id = :tenant_id
returning s.shard_id
