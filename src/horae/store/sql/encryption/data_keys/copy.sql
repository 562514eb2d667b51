-- :rows
-- Fewer rows than given: the others are as new here, or newer, or their tenant was removed.
insert into data_key as k (shard_id, tenant_id, version, revision, wrapped, created_at, changed_at)
select g.shard_id, g.tenant_id, g.version, g.revision, g.wrapped, g.created_at, g.changed_at
from jsonb_populate_recordset(null::data_key, :rows) g
where {tenant_not_removed}
on conflict (shard_id, tenant_id, version) do update
set revision = excluded.revision, wrapped = excluded.wrapped, changed_at = excluded.changed_at
where k.revision < excluded.revision
returning version
