-- :roles
select r.name from unnest(:roles::text[]) r(name) where not exists (select from pg_roles where rolname = r.name)
