-- :tenant_ids
-- No row for a tenant: this cell has not heard of it yet. A copy without a layout was written before there were any.
select id, (body ->> 'width')::int as width, coalesce(body ->> 'layout', 'NEIGHBOURS') as layout,
       coalesce(body -> 'former', '[]') as former
from reference where kind = 'tenant' and id = any(:tenant_ids::uuid[])
