-- How much a restored cell has.
select (select count(*) from job) as job, (select count(*) from job_cursor) as job_cursor,
       (select count(*) from instance_live) as instance_live, (select count(*) from instance_history) as instance_history,
       (select count(*) from task_key) as task_key, (select count(*) from audit_log) as audit_log
