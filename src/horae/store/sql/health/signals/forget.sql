-- :before :limit
-- Zero rows: nothing is that old.
with old as materialized (
    select s.ctid from signal s where s.minute < :before limit :limit for update skip locked)
delete from signal s using old where s.ctid = old.ctid
returning s.minute
