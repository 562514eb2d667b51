-- Every table of a day, the ones that are being detached first: a parent can have one of those at a time. A table that
-- somebody else detached is not ours: only those are listed that we have marked.
select p.parent, to_date(right(c.relname, 8), 'YYYYMMDD') as day,
       case when i.inhrelid is null then 'DETACHED' when i.inhdetachpending then 'DETACHING' else 'ATTACHED' end as state,
       pg_total_relation_size(c.oid) as bytes
from unnest(array['instance_history', 'outbox', 'instance_result', 'log_batch']) as p(parent)
join pg_class t on t.oid = to_regclass(p.parent)
join pg_class c on c.relnamespace = t.relnamespace and c.relkind = 'r' and c.relname ~ ('^' || p.parent || '_\d{8}$')
left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = t.oid
where i.inhrelid is not null or obj_description(c.oid, 'pg_class') = 'horae drops this table'
order by i.inhdetachpending desc nulls last, day, p.parent
