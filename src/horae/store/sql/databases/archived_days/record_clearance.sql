-- :day :until
-- Zero rows: the archive of the day is being deleted.
update archived_day set cleared_until = greatest(cleared_until, :until) where day = :day and state = 'ARCHIVED'
