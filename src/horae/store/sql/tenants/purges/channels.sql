-- :shard :tenant_id
-- Zero rows: no channel of the tenant is left here, neither at home nor copied.
delete from channel c where c.shard_id = :shard and c.tenant_id = :tenant_id
returning c.id
