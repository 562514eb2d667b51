-- One row. A server on its first timeline was never replaced. Otherwise commits must wait for a standby.
select current_setting('synchronous_commit') <> 'off'
       and (left(pg_walfile_name(pg_current_wal_lsn()), 8) = '00000001'
            or (current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') <> 'local'))
