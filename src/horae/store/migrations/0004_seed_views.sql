-- migrate:up

-- The seed's own tables and column names (002 §7), over our rows.
create view job_definition with (security_invoker = true) as
select id as job_id, tenant_id,
       definition -> 'trigger' ->> 'expression' as cron,
       definition -> 'trigger' ->> 'zone' as timezone,
       status,
       coalesce((definition ->> 'priority')::int, 1) as priority,
       definition -> 'retry' as retry_policy,
       created_at
from job;

create view job_instance with (security_invoker = true) as
select id as instance_id, tenant_id, job_id, fire_time, state, attempt, worker_id, idem_key, changed_at as updated_at
from instance_live
union all
select id, tenant_id, job_id, fire_time, state, attempt, worker_id, idem_key, ended_at
from instance_history;

create view retry_entry with (security_invoker = true) as
select id as instance_id, tenant_id, due_at as next_fire_time, attempt, error_msg as reason
from instance_live
where state = 'FAIL';

create view dlq_entry with (security_invoker = true) as
select instance_id, tenant_id, error_code, instance_id::text as payload_ref, created_at, replay_status
from dead_letter;

-- migrate:down
drop view dlq_entry, retry_entry, job_instance, job_definition;
