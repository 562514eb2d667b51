-- How many sessions of this database are in which state. PostgreSQL hides the states of sessions of other roles.
select coalesce(a.state, 'unknown') as state, count(*)::int as many
from pg_stat_activity a
where a.datname = current_database() and a.backend_type = 'client backend'
group by 1
