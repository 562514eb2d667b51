-- migrate:up
-- without transaction

-- The few audit rows that begin and end pauses and jobs, by what they are about.
drop index concurrently if exists audit_log_pauses;
create index concurrently audit_log_pauses on audit_log (resource)
where action in ('job.paused', 'job.resumed', 'job.removed', 'tenant.paused', 'tenant.resumed')
    or (action = 'job.created' and detail ? 'paused');

-- migrate:down
drop index concurrently audit_log_pauses;
