select system_identifier as cluster_id, pg_walfile_name(pg_current_wal_lsn()) as wal_file from pg_control_system()
