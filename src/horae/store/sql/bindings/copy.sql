-- Zero rows: it is as new here, or newer.
insert into role_binding as b (shard_id, tenant_id, principal, roles, changed_at, version)
values ($1, $2, $3, $4, $5, $6)
on conflict (shard_id, tenant_id, principal) do update
set roles = excluded.roles, changed_at = excluded.changed_at, version = excluded.version
where b.version < excluded.version
returning principal
