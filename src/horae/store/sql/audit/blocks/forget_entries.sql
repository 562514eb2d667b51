-- :until_xid
-- Zero rows: no row is left behind the checkpoint.
delete from audit_log a where a.xid < :until_xid
returning a.id
