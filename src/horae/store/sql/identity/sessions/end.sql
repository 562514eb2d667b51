-- :shard :id :tenant_id :now
-- Zero rows: the tenant has no such session that has not ended yet, or its shard is moving.
update session v
set ended_at = :now
where v.shard_id = :shard and v.id = :id and v.tenant_id = :tenant_id and v.ended_at is null
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.principal
