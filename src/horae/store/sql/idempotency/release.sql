-- Zero rows: the key stands for another request by now, or the shard is moving.
update idempotency set expires_at = $7
where shard_id = $1 and tenant_id = $2 and route = $3 and resource = $4 and key = $5 and fingerprint = $6
  and expires_at > $7
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning key
