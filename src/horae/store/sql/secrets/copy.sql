-- Zero rows: it is as new here, or newer.
insert into secret as s (shard_id, tenant_id, name, sealed, changed_by, changed_at, version)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (shard_id, tenant_id, name) do update
set sealed = excluded.sealed, changed_by = excluded.changed_by, changed_at = excluded.changed_at, version = excluded.version
where s.version < excluded.version
returning name
