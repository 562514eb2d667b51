-- :tenant_id :kind :name
-- Zero rows: no living one of that name has been copied here yet.
select body from reference
where tenant_id = :tenant_id and kind = :kind and name = :name and body ->> 'status' is distinct from 'REMOVED'
order by id desc limit 1
