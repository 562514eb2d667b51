-- What every ended instance takes from its live row into history.
fire_time, due_at, job_version, attempt, retry_count, held_ms, trigger_delay_ms, shard_id, priority, lane, id,
tenant_id, job_id, idem_key, payload, attempts
