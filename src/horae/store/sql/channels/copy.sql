-- Zero rows: it is as new here, or newer. What was removed and forgotten at home begins with version 1 again, and replaces
-- what is left here of the removed one.
insert into channel as c (shard_id, tenant_id, kind, name, id, body, changed_by, created_at, changed_at, version,
    paused_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (shard_id, tenant_id, kind, name) do update
set id = excluded.id, body = excluded.body, changed_by = excluded.changed_by, created_at = excluded.created_at,
    changed_at = excluded.changed_at, version = excluded.version, paused_at = excluded.paused_at
where c.version < excluded.version or (c.body is null and c.changed_at < excluded.changed_at)
returning c.name
