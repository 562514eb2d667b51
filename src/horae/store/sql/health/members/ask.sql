select pg_is_in_recovery() as is_standby,
       nullif(current_setting('horae.zone', true), '') as zone,
       (select substring(conninfo from 'application_name=(\S+)') from pg_stat_wal_receiver) as name,
       (select string_agg(application_name, ' ' order by application_name) from pg_stat_replication
        where sync_state in ('sync', 'quorum')) as synchronous,
       pg_has_role('pg_read_all_stats', 'usage') as sees_standbys,
       clock_timestamp() as now
