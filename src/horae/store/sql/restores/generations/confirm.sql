-- :generation
-- Zero rows: the cell has another generation, or is closed for ever. The server that answers is recorded.
update cell_generation g
set cluster_id = s.system_identifier,
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
from pg_control_system() s
where g.generation = :generation and g.closed_reason is null
returning g.generation
