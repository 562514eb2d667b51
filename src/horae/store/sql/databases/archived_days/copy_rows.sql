-- The rows on some pages of one day, in the order in which they are stored. They are read through the parent, which has
-- the policies of row-level security, while the day is attached. No snapshot is held for longer than these pages take.
select tenant_id, job_id, fire_time, id, ended_at, due_at, range_to, job_version, attempt, retry_count, held_ms,
       trigger_delay_ms, duration_ms, range_count, generation, shard_id, priority, lane, state, reason, business_key,
       worker_id, error_code, error_msg, idem_key, payload, attempts, node
from "{table}"
where ended_at >= '{begin}' and ended_at < '{end}'
  and ctid >= '({first_page},0)' and ctid < '({end_page},0)'
