-- :day :generation :rows :bytes :now :cleared_until
-- Zero rows: the day was forgotten in the meantime.
update archived_day
set state = 'ARCHIVED', generation = :generation, rows = :rows, bytes = :bytes, archived_at = :now,
    cleared_until = :cleared_until
where day = :day and state <> 'EXPIRING'
returning day
