-- :shard :tenant_id :after_principal :limit
-- A tenant's bindings by principal, after the last one seen.
select principal, roles from role_binding
where shard_id = :shard and tenant_id = :tenant_id and principal collate "C" > :after_principal
  and cardinality(roles) > 0
order by principal collate "C" limit :limit
