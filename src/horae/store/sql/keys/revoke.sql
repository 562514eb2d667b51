-- Zero rows: the tenant has no such key that is not revoked yet, or its shard is moving.
update api_key k
set revoked_at = $4, changed_at = $4, version = k.version + 1
where k.shard_id = $1 and k.id = $2 and k.tenant_id = $3 and k.revoked_at is null
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.id, k.tenant_id, k.name, k.digest, k.scopes, k.created_by, k.created_at, k.expires_at, k.revoked_at, k.last_used_at
