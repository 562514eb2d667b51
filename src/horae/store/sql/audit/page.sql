-- A tenant's audit rows in this cell, newest first, older than the last one seen.
select at, id, actor, action, resource, detail from audit_log
where tenant_id = $1 and (at, id) < ($2, $3) and at >= $4
order by at desc, id desc limit $5
