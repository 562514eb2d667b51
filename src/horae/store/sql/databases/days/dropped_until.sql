-- :parents
-- Null: nothing was dropped.
select max(until_day) from dropped_day where parent = any(:parents::text[])
