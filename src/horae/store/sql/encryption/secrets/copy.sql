-- :rows
-- Fewer rows than given: the others are as new here, or newer, or their tenant was removed. A process of the release
-- before copies no hosts: they are written afterwards.
-- What was removed and forgotten at home begins with version 1 again, and replaces what is left here of the removed
-- one.
insert into secret as s (shard_id, tenant_id, name, sealed, changed_by, changed_at, version, hosts)
select g.shard_id, g.tenant_id, g.name, g.sealed, g.changed_by, g.changed_at, g.version, g.hosts
from jsonb_populate_recordset(null::secret, :rows) g
where {tenant_not_removed}
on conflict (shard_id, tenant_id, name) do update
set sealed = excluded.sealed, changed_by = excluded.changed_by, changed_at = excluded.changed_at,
    version = excluded.version, hosts = excluded.hosts
where s.version < excluded.version or (s.version = excluded.version and s.hosts <> excluded.hosts)
   or (s.sealed is null and s.changed_at < excluded.changed_at)
returning name
