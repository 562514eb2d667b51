select id from job where status = 'PAUSED'
union
select id from reference where kind = 'job' and body ->> 'status' = 'PAUSED'
