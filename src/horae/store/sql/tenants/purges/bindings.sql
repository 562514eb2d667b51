-- :shards :tenant_id
-- Zero rows: no role of the tenant is left here, neither at home nor copied.
delete from role_binding b where b.shard_id = any(:shards::smallint[]) and b.tenant_id = :tenant_id
returning b.shard_id
