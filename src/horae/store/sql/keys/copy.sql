-- Zero rows: it is as new here, or newer.
insert into api_key as k (shard_id, id, tenant_id, name, digest, scopes, created_by, expires_at, revoked_at, created_at, changed_at, version)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict (shard_id, id) do update
set scopes = excluded.scopes, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
    changed_at = excluded.changed_at, version = excluded.version
where k.version < excluded.version
returning id
