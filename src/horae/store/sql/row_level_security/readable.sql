-- :tables
select c.relname::text as name from pg_class c
where c.relname = any(:tables) and c.relnamespace = current_schema()::regnamespace and has_table_privilege(c.oid, 'select')
