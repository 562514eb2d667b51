-- :shard :tenant_id
-- A tenant's secrets that have a value, at its home.
select tenant_id, name, version, sealed, hosts, changed_at from secret
where shard_id = :shard and tenant_id = :tenant_id and sealed is not null
