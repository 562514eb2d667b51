-- :rows
-- Fewer rows than given: a row with the same key, or the same unique name, is there. A later comparison finds it.
insert into "{table}" as t
select r.* from unnest(:rows::text::"{table}"[]) r
on conflict do nothing
returning hash_record_extended(row(t."{key}"), 0) as hash
