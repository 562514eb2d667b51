-- :shard :tenant_id :principals
-- No row for a principal: nothing was ever bound to it, or its copy has not arrived here yet.
select principal, roles from role_binding
where shard_id = :shard and tenant_id = :tenant_id and principal = any(:principals::text[])
