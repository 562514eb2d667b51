-- :shard :tenant_id :principal
-- Zero rows: nothing was ever bound to that principal, or its copy has not arrived here yet.
select principal, roles from role_binding where shard_id = :shard and tenant_id = :tenant_id and principal = :principal
