-- :generation :now
-- Zero rows: the cell has that generation, or a newer one. The server that answers is recorded as the cell's own.
update cell_generation g
set generation = :generation, opened_at = :now, closed_reason = null, cluster_id = s.system_identifier,
    timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
from pg_control_system() s
where g.generation < :generation
returning g.generation
