-- The columns of an ended instance `h` in a list, in the order of `listed_live_columns`.
h.id, h.job_id, h.business_key, h.fire_time, h.state, h.reason, h.attempt, h.retry_count, h.ended_at,
h.trigger_delay_ms, h.duration_ms, h.range_to, h.range_count, h.error_code, h.error_msg, h.idem_key,
h.due_at, h.priority, h.lane, h.job_version, h.worker_id
