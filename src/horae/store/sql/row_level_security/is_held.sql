-- :tables
-- Whether nothing in the catalog lets the role of this connection see rows of all tenants: no attribute, no policy and
-- no ownership, neither of its own nor of a role that it is a member of, and no table without row-level security.
select not exists (select from pg_roles where (rolsuper or rolbypassrls) and pg_has_role(oid, 'member'))
   and not exists (
       select from pg_policy p, unnest(p.polroles) r(role)
       where r.role <> 0 and pg_has_role(r.role, 'member'))
   and not exists (
       select from pg_class c
       where c.relname = any(:tables) and c.relnamespace = current_schema()::regnamespace
         and (not c.relrowsecurity or not c.relforcerowsecurity or pg_has_role(c.relowner, 'member')))
