-- A tenant's audit rows in this cell, newest first, older than the last one seen.
select at, id, actor, action, resource, detail from audit_log
where tenant_id = $1 and (at, id) < ($2, $3) and at >= $4 and at < $5
  and ($6::text is null or actor = $6) and ($7::text is null or action = $7) and ($8::text is null or resource = $8)
order by at desc, id desc limit $9
