-- Zero rows: nothing is that old.
with old as materialized (
    select s.ctid from signal s where s.minute < $1 limit $2 for update skip locked)
delete from signal s using old where s.ctid = old.ctid
returning s.minute
