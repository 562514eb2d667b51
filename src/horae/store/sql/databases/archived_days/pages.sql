-- :partition
-- Null: there is no such table.
select (pg_relation_size(to_regclass(:partition)) / current_setting('block_size')::int)::int
