-- Zero rows: no living one of that name has been copied here yet.
select body from reference
where tenant_id = $1 and kind = $2 and name = $3 and body ->> 'status' is distinct from 'REMOVED'
order by id desc limit 1
