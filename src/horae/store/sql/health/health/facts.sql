-- :roles
select current_setting('server_version_num')::int as version,
       exists (select from pg_roles where rolsuper and pg_has_role(oid, 'member')) as superuser,
       (select max(clock_timestamp() - coalesce(xact_start, query_start)) from pg_stat_activity
        where backend_xmin is not null and pid <> pg_backend_pid() and backend_type = 'client backend'
          and datname = current_database()) as oldest_snapshot,
       (select age(datfrozenxid) from pg_database where datname = current_database()) as frozen_age,
       (select mxid_age(datminmxid) from pg_database where datname = current_database()) as multixact_age,
       (select string_agg(number::text, ' ') from schema_migration) as migrations,
       pg_has_role('pg_read_all_stats', 'usage') as sees_sessions,
       pg_has_role('pg_signal_backend', 'usage') as ends_sessions,
       (select string_agg(rolname, ' ' order by rolname) from pg_roles
        where rolbypassrls and rolname = any(:roles)) as bypassing_roles,
       {wal_archive_lag} as wal_archive_lag_s
