-- The tables that belong neither to the role of this connection nor to a role whose rights it has, by owner.
select pg_get_userbyid(c.relowner)::text as owner, count(*) as tables from pg_class c
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not pg_has_role(c.relowner, 'usage')
group by c.relowner order by count(*) desc
