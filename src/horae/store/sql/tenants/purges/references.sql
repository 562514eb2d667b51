-- :tenant_id
-- Zero rows: no copy of the tenant's types and calendars is left here.
delete from reference r where r.tenant_id = :tenant_id and r.kind in ('job', 'calendar')
returning r.id
