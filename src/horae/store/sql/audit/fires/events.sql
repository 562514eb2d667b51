-- :resources
-- The audit rows that begin and end pauses and jobs, of these jobs and tenants, oldest first. They have an index.
select a.resource, a.at, a.action, a.detail
from audit_log a
where a.resource = any(:resources::text[])
  and (a.action in ('job.paused', 'job.resumed', 'job.removed', 'tenant.paused', 'tenant.resumed')
       or (a.action = 'job.created' and a.detail ? 'paused'))
order by a.at, a.id
