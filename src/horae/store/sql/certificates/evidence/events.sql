-- :tenant_id :actions
-- The audit rows of a tenant that begin and end a pause or a job, oldest first.
select resource, at, action, detail
from audit_log
where tenant_id = :tenant_id and action = any(:actions::text[])
order by at, id
