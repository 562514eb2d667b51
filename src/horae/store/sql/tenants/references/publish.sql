-- :kind :id :tenant_id :home_shard :name :now :body
insert into reference as r (kind, id, tenant_id, home_shard, name, version, changed_at, body)
values (:kind, :id, :tenant_id, :home_shard, :name, 1, :now, :body)
on conflict (kind, id) do update set version = r.version + 1, changed_at = excluded.changed_at, body = excluded.body
