-- :shard :tenant_id :principal :roles :now
-- Zero rows: the shard is closed.
insert into role_binding as b (shard_id, tenant_id, principal, roles, changed_at)
select :shard, :tenant_id, :principal, :roles, :now
where {fence}
on conflict (shard_id, tenant_id, principal) do update
set roles = excluded.roles, changed_at = excluded.changed_at, version = b.version + 1
returning principal
