-- A tenant's channels of a kind by name, after the last one seen.
select id, tenant_id, name, version, created_at, changed_at, changed_by, paused_at, body from channel
where shard_id = $1 and tenant_id = $2 and kind = $3 and name collate "C" > $4 and body is not null
order by name collate "C" limit $5
