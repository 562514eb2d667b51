-- :generation :numbers :kinds :tenant_ids :names :evidences :contents :now
-- Always as many rows as given.
insert into restore_doubt (generation, number, kind, tenant_id, name, evidence, content, found_at)
select :generation, g.number, g.kind, g.tenant_id, g.name, g.evidence, g.content, :now
from unnest(:numbers::bigint[], :kinds::text[], :tenant_ids::uuid[], :names::text[], :evidences::text[],
            :contents::jsonb[]) g(number, kind, tenant_id, name, evidence, content)
