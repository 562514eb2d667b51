insert into reference as r (kind, id, tenant_id, home_shard, name, version, changed_at, body)
values ($1, $2, $3, $4, $5, 1, $6, $7)
on conflict (kind, id) do update set version = r.version + 1, changed_at = excluded.changed_at, body = excluded.body
