-- The days of this cell whose rows are in the archive only, the oldest first. A table that is being detached is hidden
-- from readers already: its day is cold before its drop is recorded, so that its rows are never missing.
select d.day, d.archive_id, d.generation
from archived_day d
where d.state = 'ARCHIVED' and (d.dropped_at is not null or not exists (
    select from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'instance_history'::regclass and not i.inhdetachpending
      and c.relname = 'instance_history_' || to_char(d.day, 'YYYYMMDD')))
order by d.day
