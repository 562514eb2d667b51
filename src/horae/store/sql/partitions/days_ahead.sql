-- Counts only days without a gap: a hole tomorrow is a hole.
select count(*)::int
from generate_series(0, 365) n
where not exists (
    select from generate_series(0, n) m
    where to_regclass('instance_history_' || to_char(($1::timestamptz at time zone 'UTC')::date + m, 'YYYYMMDD')) is null)
