-- :before
-- The days that wait for the archive, and their bytes: a day is dropped only once it is archived.
select count(*)::int as days, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
from archived_day a
join pg_class c on c.oid = to_regclass('instance_history_' || to_char(a.day, 'YYYYMMDD'))
where a.state = 'CLOSING' and a.day < :before
