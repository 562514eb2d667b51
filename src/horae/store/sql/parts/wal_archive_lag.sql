-- Seconds since a WAL file was last archived, by the server's own clock; null where the server archives none.
(select case when current_setting('archive_mode') <> 'off' then extract(epoch from clock_timestamp()
    - coalesce(a.last_archived_time, a.stats_reset, pg_postmaster_start_time()))::float8 end
 from pg_stat_archiver a)
