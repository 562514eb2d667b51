insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body) values ($1, $2, $3, $4, $5, $6, $7)
