-- No row: nothing was read in this cell yet.
select p.xid, p.moved_at from alert_position p
