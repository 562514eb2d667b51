-- Zero rows: there is none.
delete from alert_position returning xid
