-- :shard :tenant_id :name :encrypted_value :actor :now :hosts
-- Zero rows: the shard is closed.
insert into secret as s (shard_id, tenant_id, name, sealed, changed_by, changed_at, hosts)
select :shard, :tenant_id, :name, :encrypted_value, :actor, :now, :hosts
where {fence}
on conflict (shard_id, tenant_id, name) do update
set sealed = excluded.sealed, changed_by = excluded.changed_by, changed_at = excluded.changed_at,
    hosts = excluded.hosts, version = s.version + 1
returning s.name, s.version, s.changed_at, s.changed_by, s.hosts
