select id, name, version, body from reference where tenant_id = $1 and kind = 'calendar' and name > $2 order by name limit $3
