-- :rows
-- Fewer rows than given: the others are as new here, or newer, or their tenant was removed.
-- What was emptied and forgotten at home begins with version 1 again, and replaces what is left here of the emptied
-- one.
insert into role_binding as b (shard_id, tenant_id, principal, roles, changed_at, version)
select g.shard_id, g.tenant_id, g.principal, g.roles, g.changed_at, g.version
from jsonb_populate_recordset(null::role_binding, :rows) g
where {tenant_not_removed}
on conflict (shard_id, tenant_id, principal) do update
set roles = excluded.roles, changed_at = excluded.changed_at, version = excluded.version
where b.version < excluded.version or (cardinality(b.roles) = 0 and b.changed_at < excluded.changed_at)
returning principal
