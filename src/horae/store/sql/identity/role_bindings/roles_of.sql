-- :shard :tenant_id :principals
-- The roles of these principals together, in one tenant.
select distinct unnest(roles) as role from role_binding
where shard_id = :shard and tenant_id = :tenant_id and principal = any(:principals)
