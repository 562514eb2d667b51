-- :min_age
-- A vacuum holds nothing back, and ours may take its time.
select pid, usename::text as role, application_name as application, state, clock_timestamp() - xact_start as age
from pg_stat_activity a
where backend_xmin is not null and datname = current_database() and backend_type = 'client backend'
  and pid <> pg_backend_pid() and clock_timestamp() - xact_start > :min_age
  and not exists (select from pg_stat_progress_vacuum v where v.pid = a.pid)
order by xact_start
