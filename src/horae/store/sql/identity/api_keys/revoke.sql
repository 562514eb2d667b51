-- :shard :id :tenant_id :now
-- Zero rows: the tenant has no such key that is not revoked yet, or its shard is moving.
update api_key k
set revoked_at = :now, changed_at = :now, version = k.version + 1
where k.shard_id = :shard and k.id = :id and k.tenant_id = :tenant_id and k.revoked_at is null
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
returning k.id, k.tenant_id, k.name, k.digest, k.scopes, k.job_labels, k.created_by, k.created_at, k.expires_at,
          k.revoked_at, k.last_used_at
