-- Fewer rows than keys: those are not in this cell.
select r.tenant_id, r.name, r.version
from unnest($1::uuid[], $2::text[]) as w(tenant_id, name)
join reference r on r.tenant_id = w.tenant_id and r.kind = 'calendar' and r.name = w.name
