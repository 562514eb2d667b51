-- :tenant_id
-- Zero rows: nothing of the tenant's is parked, or its shard is moving.
delete from parked p where p.tenant_id = :tenant_id
  and not exists (select from shard s where s.shard_id = p.shard_id and s.state <> 'ACTIVE')
returning p.id
