-- Zero rows: it is as new here, or newer.
insert into data_key as k (shard_id, tenant_id, version, revision, wrapped, created_at, changed_at)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (shard_id, tenant_id, version) do update
set revision = excluded.revision, wrapped = excluded.wrapped, changed_at = excluded.changed_at
where k.revision < excluded.revision
returning version
