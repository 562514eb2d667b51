-- :tenant_id
-- Zero rows: no session of the tenant is left here, or its shard is moving.
delete from session v
where v.tenant_id = :tenant_id
  and not exists (select from shard s where s.shard_id = v.shard_id and s.state <> 'ACTIVE')
returning v.id
