-- The same job may be there twice: at home it is its own copy, too.
select id from job where status = 'PAUSED' and tenant_id = $1
union all
select id from reference where kind = 'job' and body ->> 'status' = 'PAUSED' and tenant_id = $1
