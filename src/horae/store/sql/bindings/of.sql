-- No row for a principal: nothing was ever bound to it, or its copy has not arrived here yet.
select principal, roles from role_binding where shard_id = $1 and tenant_id = $2 and principal = any($3::text[])
