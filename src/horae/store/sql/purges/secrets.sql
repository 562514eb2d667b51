-- Zero rows: no secret of the tenant is left here, neither at home nor copied.
delete from secret s where s.shard_id = $1 and s.tenant_id = $2
returning s.shard_id
