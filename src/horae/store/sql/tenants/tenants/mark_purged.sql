-- :shard :tenant_id :now
-- Zero rows: it was marked already, or the shard is moving. The name is free for another from now on.
update tenant t
set purged_at = :now, allowance = '{}', name = left(t.name, 20) || ' ' || t.id::text
where t.shard_id = :shard and t.id = :tenant_id and t.status = 'REMOVED' and t.purged_at is null
  and not exists (select from shard s where s.shard_id = t.shard_id and s.state <> 'ACTIVE')
returning t.id
