-- :principals
-- The tenants in which any of these principals has a role, at home here or copied.
select distinct b.tenant_id from role_binding b
where b.principal = any(:principals) and cardinality(b.roles) > 0
