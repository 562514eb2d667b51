-- :shard :tenant_id :route :resource :key :fingerprint :now
-- Zero rows: the key stands for another request by now, or the shard is moving.
update idempotency set expires_at = :now
where shard_id = :shard and tenant_id = :tenant_id and route = :route and resource = :resource and key = :key
  and fingerprint = :fingerprint
  and expires_at > :now
  and {fence}
returning key
