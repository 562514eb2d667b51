-- :parent
-- Zero rows: nothing was dropped.
select until_day from dropped_day where parent = :parent
