-- Zero rows: it is as new here, or newer. A process of the release before copies no hosts: they are written afterwards.
-- What was removed and forgotten at home begins with version 1 again, and replaces what is left here of the removed one.
insert into secret as s (shard_id, tenant_id, name, sealed, changed_by, changed_at, version, hosts)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (shard_id, tenant_id, name) do update
set sealed = excluded.sealed, changed_by = excluded.changed_by, changed_at = excluded.changed_at, version = excluded.version,
    hosts = excluded.hosts
where s.version < excluded.version or (s.version = excluded.version and s.hosts <> excluded.hosts)
   or (s.sealed is null and s.changed_at < excluded.changed_at)
returning name
