-- A tenant's bindings by principal, after the last one seen.
select principal, roles from role_binding
where shard_id = $1 and tenant_id = $2 and principal collate "C" > $3 and cardinality(roles) > 0
order by principal collate "C" limit $4
