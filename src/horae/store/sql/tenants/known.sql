-- Zero rows: there is no such tenant, it was removed, or its copy has not arrived here yet.
select id, body ->> 'name' as name, (body ->> 'width')::int as width, body ->> 'zone' as zone, body -> 'allowance' as allowance
from reference
where kind = 'tenant' and id = $1 and body -> 'held' ->> 'status' is distinct from 'REMOVED'
