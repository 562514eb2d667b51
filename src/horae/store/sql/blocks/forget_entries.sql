-- Zero rows: no row is left behind the checkpoint.
delete from audit_log a where a.xid < $1
returning a.id
