-- :tenant_ids :names
-- Fewer rows than keys: those are not in this cell.
select r.tenant_id, r.name, r.version
from unnest(:tenant_ids::uuid[], :names::text[]) as w(tenant_id, name)
-- As a range of one, which no other index than that of the names can serve.
join reference r on (r.tenant_id, r.kind, r.name) >= (w.tenant_id, 'calendar', w.name)
                and (r.tenant_id, r.kind, r.name) <= (w.tenant_id, 'calendar', w.name)
