-- Always one row: this transaction reserved it. Its reserve has passed the fence.
update idempotency set instance_id = $6, answer = $7
where shard_id = $1 and tenant_id = $2 and route = $3 and resource = $4 and key = $5
