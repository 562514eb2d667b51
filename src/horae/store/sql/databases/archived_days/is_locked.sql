-- Whether this session still has the lock: a session that was lost in the meantime is another one, or none.
select exists (
    select from pg_locks
    where locktype = 'advisory' and pid = pg_backend_pid() and granted and classid::bigint << 32 | objid::bigint = 7023015614)
