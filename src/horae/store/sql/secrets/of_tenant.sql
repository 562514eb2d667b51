-- A tenant's secrets that have a value, at its home.
select tenant_id, name, version, sealed, hosts, changed_at from secret
where shard_id = $1 and tenant_id = $2 and sealed is not null
