-- Zero rows: no role of the tenant is left here, neither at home nor copied.
delete from role_binding b where b.shard_id = any($1::smallint[]) and b.tenant_id = $2
returning b.shard_id
