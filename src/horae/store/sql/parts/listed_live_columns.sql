-- The columns of a live instance `l` in a list, in the order of `listed_history_columns`.
l.id, l.job_id, l.business_key, l.fire_time, l.state, null::text, l.attempt, l.retry_count, l.changed_at,
l.trigger_delay_ms, null::int, null::timestamptz, null::int, null::text, l.error_msg, l.idem_key,
l.due_at, l.priority, l.lane, l.job_version, l.worker_id
