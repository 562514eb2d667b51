-- Zero rows: no channel of the tenant is left here, neither at home nor copied.
delete from channel c where c.shard_id = $1 and c.tenant_id = $2
returning c.id
