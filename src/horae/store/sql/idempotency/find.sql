-- :shard :tenant_id :route :resource :key
select fingerprint, instance_id, answer from idempotency
where shard_id = :shard and tenant_id = :tenant_id and route = :route and resource = :resource and key = :key
