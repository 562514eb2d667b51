-- The days whose rows are in this cell alone: days of history that are not archived, days of events and of results, the
-- oldest first. The tables of coming days have no pages.
select p.parent, to_date(right(c.relname, 8), 'YYYYMMDD') as day
from unnest(array['instance_history', 'outbox', 'instance_result']) as p(parent)
join pg_inherits i on i.inhparent = to_regclass(p.parent)
join pg_class c on c.oid = i.inhrelid
where pg_relation_size(c.oid) > 0 and not (p.parent = 'instance_history' and exists (
    select from archived_day a
    where a.day = to_date(right(c.relname, 8), 'YYYYMMDD') and a.state = 'ARCHIVED'))
order by day, p.parent
