-- :day
-- Zero rows: it is not archived, or is being deleted.
update archived_day set state = 'CLOSING' where day = :day and state = 'ARCHIVED'
