-- :shard :tenant_id :route :resource :key :instance_id :answer
-- Always one row: this transaction reserved it. Its reserve has passed the fence.
update idempotency set instance_id = :instance_id, answer = :answer
where shard_id = :shard and tenant_id = :tenant_id and route = :route and resource = :resource and key = :key
