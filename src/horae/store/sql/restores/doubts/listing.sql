-- :with_decided
select d.generation, d.number, d.kind, d.tenant_id, d.name, d.evidence, d.content, d.found_at, d.decision, d.decided_by
from restore_doubt d
where :with_decided or d.decision is null
order by d.generation, d.number
