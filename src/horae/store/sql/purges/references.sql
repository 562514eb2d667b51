-- Zero rows: no copy of the tenant's types and calendars is left here.
delete from reference r where r.tenant_id = $1 and r.kind in ('job', 'calendar')
returning r.id
