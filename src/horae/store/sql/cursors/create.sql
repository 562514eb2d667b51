insert into job_cursor (shard_id, job_id, tenant_id, version, priority, next_fire_at)
values ($1, $2, $3, $4, $5, $6)
