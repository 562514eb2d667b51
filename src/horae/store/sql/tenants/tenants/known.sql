-- :tenant_id
-- Zero rows: there is no such tenant, it was removed, or its copy has not arrived here yet. A copy without a layout was
-- written before there were any.
select id, body ->> 'name' as name, (body ->> 'width')::int as width, body ->> 'zone' as zone,
       coalesce(body ->> 'layout', 'NEIGHBOURS') as layout, coalesce(body -> 'former', '[]') as former,
       body -> 'allowance' as allowance
from reference
where kind = 'tenant' and id = :tenant_id and body -> 'held' ->> 'status' is distinct from 'REMOVED'
  and not body ? 'purged'
