select id, body -> 'allowance' as allowance from reference where kind = 'tenant' and id = any($1::uuid[])
