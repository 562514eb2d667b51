-- Zero rows: the tenant never had a key, or its copies have not arrived here yet.
select version, wrapped from data_key where shard_id = $1 and tenant_id = $2
