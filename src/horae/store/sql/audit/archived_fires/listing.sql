-- :first_day
-- The archived days of this cell. A day that is_hot has its rows in PostgreSQL, too. A table that is being detached is
-- hidden from readers already, as in `databases/cold_days/listing`.
select a.day, a.archive_id, a.generation, a.rows, a.bytes, a.dropped_at is null and exists (
           select from pg_inherits i
           join pg_class c on c.oid = i.inhrelid
           where i.inhparent = 'instance_history'::regclass and not i.inhdetachpending
             and c.relname = 'instance_history_' || to_char(a.day, 'YYYYMMDD')) as is_hot
from archived_day a
where a.state = 'ARCHIVED' and a.day >= :first_day
order by a.day
