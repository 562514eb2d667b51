-- Null: that transaction is over.
select pg_terminate_backend(pid) from pg_stat_activity
where pid = $1 and backend_xmin is not null and clock_timestamp() - xact_start >= $2
