-- :tenant_ids :principals :now
-- Fewer rows than given: the others have no roles already.
update role_binding b set roles = '{}', changed_at = :now, version = b.version + 1
from unnest(:tenant_ids::uuid[], :principals::text[]) g(tenant_id, principal)
where b.tenant_id = g.tenant_id and b.principal = g.principal and cardinality(b.roles) > 0
