-- :shard :tenant_id
-- Zero rows: no key of the tenant is left here, neither at home nor copied. What they encrypted can never be decrypted.
delete from data_key k where k.shard_id = :shard and k.tenant_id = :tenant_id
returning k.shard_id
