-- :shard :tenant_id :kind :name
-- No row: the tenant has no such channel.
select id, tenant_id, name, version, created_at, changed_at, changed_by, paused_at, body from channel
where shard_id = :shard and tenant_id = :tenant_id and kind = :kind and name = :name and body is not null
