-- Zero rows: no key of the tenant is left here, neither at home nor copied. What they sealed is closed for ever.
delete from data_key k where k.shard_id = $1 and k.tenant_id = $2
returning k.shard_id
