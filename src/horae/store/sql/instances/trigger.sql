-- Zero rows: an instance under this key still lives, although the request that made it is forgotten.
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, payload, state, exclusive)
values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, 0, $10, $11, $12, $13, $14)
on conflict (idem_key, (shard_id::int)) where business_key is null do nothing
returning id
