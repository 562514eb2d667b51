select * from (
    (select id, job_id, business_key, fire_time, state, null::text as reason, attempt, retry_count, changed_at,
            trigger_delay_ms, null::int as duration_ms, null::timestamptz as range_to, null::int as range_count,
            null::text as error_code, error_msg, idem_key, attempts
     from instance_live where tenant_id = $1 and job_id = $2 order by fire_time desc limit $3)
    union all
    (select id, job_id, business_key, fire_time, state, reason, attempt, retry_count, ended_at,
            trigger_delay_ms, duration_ms, range_to, range_count, error_code, error_msg, idem_key, attempts
     from instance_history where tenant_id = $1 and job_id = $2 order by fire_time desc limit $3)
) every
order by fire_time desc, changed_at desc
limit $3
