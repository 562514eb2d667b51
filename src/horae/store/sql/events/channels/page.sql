-- :shard :tenant_id :kind :after_name :limit
-- A tenant's channels of a kind by name, after the last one seen.
select id, tenant_id, name, version, created_at, changed_at, changed_by, paused_at, body from channel
where shard_id = :shard and tenant_id = :tenant_id and kind = :kind and name collate "C" > :after_name
  and body is not null
order by name collate "C" limit :limit
