-- The recorded generation beside the facts of the server itself.
select g.generation, g.cluster_id, g.timeline, g.closed_reason, current_database()::text as database,
       s.system_identifier as server_cluster_id, pg_walfile_name(pg_current_wal_lsn()) as wal_file,
       concat(current_setting('recovery_target'), current_setting('recovery_target_lsn'),
              current_setting('recovery_target_name'), current_setting('recovery_target_time'),
              current_setting('recovery_target_xid')) as recovery_target
from cell_generation g, pg_control_system() s
