-- :partition
-- Null: there is no such table.
select reltuples::bigint from pg_class where oid = to_regclass(:partition)
