-- :tables
-- How many tables have rows that row-level security hides from the role of this connection.
select count(*) from pg_class c
where c.relname = any(:tables) and c.relnamespace = current_schema()::regnamespace and c.relrowsecurity
  and not exists (select from pg_roles where rolname = current_user and (rolsuper or rolbypassrls))
  and not exists (
      select from pg_policy p, unnest(p.polroles) r(role)
      where p.polrelid = c.oid and r.role <> 0 and pg_has_role(r.role, 'usage'))
