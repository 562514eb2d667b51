select fingerprint, instance_id, answer from idempotency
where shard_id = $1 and tenant_id = $2 and route = $3 and resource = $4 and key = $5
