-- Zero rows: the tenant has no such session that has not ended yet, or its shard is moving.
update session v
set ended_at = $4
where v.shard_id = $1 and v.id = $2 and v.tenant_id = $3 and v.ended_at is null
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.principal
