-- :roles
select r.name from unnest(:roles::text[]) with ordinality r(name, place)
where not exists (select from pg_roles where rolname = r.name)
order by r.place
