-- :tenant_ids :names
select r.tenant_id, r.name, r.changed_at, r.body
from unnest(:tenant_ids::uuid[], :names::text[]) as g(tenant_id, name)
join reference r on r.tenant_id = g.tenant_id and r.kind = 'calendar' and r.name = g.name
