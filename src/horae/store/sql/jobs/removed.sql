select id from reference where kind = 'job' and id = any($1::uuid[]) and body ->> 'status' = 'REMOVED'
