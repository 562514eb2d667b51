-- :tenant_ids :names :now
-- Fewer rows than given: the others have no value already.
update secret s set sealed = null, changed_at = :now, version = s.version + 1
from unnest(:tenant_ids::uuid[], :names::text[]) g(tenant_id, name)
where s.tenant_id = g.tenant_id and s.name = g.name and s.sealed is not null
