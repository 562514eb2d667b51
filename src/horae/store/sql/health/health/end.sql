-- :pid :min_age
-- Null: that transaction is over.
select pg_terminate_backend(pid) from pg_stat_activity
where pid = :pid and backend_xmin is not null and clock_timestamp() - xact_start >= :min_age
