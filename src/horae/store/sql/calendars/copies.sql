select tenant_id, name, body from reference where kind = 'calendar' and tenant_id = any($1::uuid[])
