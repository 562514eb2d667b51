-- :name
-- Zero rows: there is no such tenant, it was removed, or its copy has not arrived here yet. Asked only while the
-- tenant's home does not answer, so it has no index of its own.
select id, body ->> 'name' as name, (body ->> 'width')::int as width, body ->> 'zone' as zone,
       coalesce(body ->> 'layout', 'NEIGHBOURS') as layout, coalesce(body -> 'former', '[]') as former
from reference
where kind = 'tenant' and body ->> 'name' = :name and not body ? 'purged'
  and body -> 'held' ->> 'status' is distinct from 'REMOVED'
