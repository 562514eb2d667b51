-- :now
-- Counts only days without a gap: a hole tomorrow is a hole. A table that has the name of a day and is not attached is
-- one.
select count(*)::int
from generate_series(0, 365) n
where not exists (
    select from generate_series(0, n) m, unnest(array['instance_history', 'outbox', 'instance_result', 'log_batch']) parent
    where not exists (
        select from pg_inherits i
        where i.inhparent = to_regclass(parent) and not i.inhdetachpending
          and i.inhrelid = to_regclass(parent || '_'
                                       || to_char((:now::timestamptz at time zone 'UTC')::date + m, 'YYYYMMDD'))))
