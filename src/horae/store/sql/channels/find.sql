-- No row: the tenant has no such channel.
select id, tenant_id, name, version, created_at, changed_at, changed_by, paused_at, body from channel
where shard_id = $1 and tenant_id = $2 and kind = $3 and name = $4 and body is not null
