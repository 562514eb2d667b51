-- :rows
-- Fewer rows than given: the others are as new here, or newer, or their tenant was removed.
insert into api_key as k (shard_id, id, tenant_id, name, digest, scopes, job_labels, created_by, expires_at,
                          revoked_at, created_at, changed_at, version)
select g.shard_id, g.id, g.tenant_id, g.name, g.digest, g.scopes, g.job_labels, g.created_by, g.expires_at,
    g.revoked_at, g.created_at, g.changed_at, g.version
from jsonb_populate_recordset(null::api_key, :rows) g
where {tenant_not_removed}
on conflict (shard_id, id) do update
set scopes = excluded.scopes, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
    changed_at = excluded.changed_at, version = excluded.version
where k.version < excluded.version
returning id
