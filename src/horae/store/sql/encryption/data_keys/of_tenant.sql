-- :shard :tenant_id
-- Zero rows: the tenant never had a key, or its copies have not arrived here yet.
select version, wrapped from data_key where shard_id = :shard and tenant_id = :tenant_id
