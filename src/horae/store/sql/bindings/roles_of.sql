-- The roles of these principals together, in one tenant.
select distinct unnest(roles) as role from role_binding
where shard_id = $1 and tenant_id = $2 and principal = any($3)
