-- :day :now
-- Zero rows: the day was never archived, or its drop is known.
update archived_day set dropped_at = :now where day = :day and dropped_at is null
