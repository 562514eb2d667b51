-- :names
-- Rows as PostgreSQL's statistics count them: they follow the tables by some seconds.
select s.relname::text as name, pg_total_relation_size(s.relid) as bytes, s.n_live_tup as live_rows,
       s.n_dead_tup as dead_rows
from pg_stat_user_tables s
where s.relid = any(array(select to_regclass(name) from unnest(:names::text[]) as n(name)))
order by bytes desc
