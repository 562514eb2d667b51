-- :shard :tenant_id :version :wrapped :now
-- Zero rows: the tenant has a key of that version already, or its shard is closed.
insert into data_key (shard_id, tenant_id, version, wrapped, created_at, changed_at)
select :shard, :tenant_id, :version, :wrapped, :now, :now
where {fence}
on conflict do nothing
returning version
