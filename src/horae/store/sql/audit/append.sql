insert into audit_log (at, shard_id, id, tenant_id, actor, action, resource, detail) values ($1, $2, $3, $4, $5, $6, $7, $8)
