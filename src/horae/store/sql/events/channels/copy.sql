-- :rows
-- Fewer rows than given: the others are as new here, or newer, or their tenant was removed.
-- What was removed and forgotten at home begins with version 1 again, and replaces what is left here of the removed
-- one.
insert into channel as c (shard_id, tenant_id, kind, name, id, body, changed_by, created_at, changed_at, version,
    paused_at)
select g.shard_id, g.tenant_id, g.kind, g.name, g.id, g.body, g.changed_by, g.created_at, g.changed_at, g.version,
    g.paused_at
from jsonb_populate_recordset(null::channel, :rows) g
where {tenant_not_removed}
on conflict (shard_id, tenant_id, kind, name) do update
set id = excluded.id, body = excluded.body, changed_by = excluded.changed_by, created_at = excluded.created_at,
    changed_at = excluded.changed_at, version = excluded.version, paused_at = excluded.paused_at
where c.version < excluded.version or (c.body is null and c.changed_at < excluded.changed_at)
returning c.name
