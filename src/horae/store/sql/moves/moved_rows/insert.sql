-- :rows
-- Fewer rows than given: a row with the same key, or the same unique name, is there. A later comparison finds it.
insert into "{table}"
select r.* from unnest(:rows::text::"{table}"[]) r
on conflict do nothing
