-- :tenant_ids
select id, body -> 'allowance' as allowance from reference where kind = 'tenant' and id = any(:tenant_ids::uuid[])
