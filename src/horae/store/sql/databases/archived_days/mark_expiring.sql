-- :day
-- Written before the first object is deleted: from now on the day counts as gone. Zero rows: it is not archived.
update archived_day set state = 'EXPIRING' where day = :day and state = 'ARCHIVED'
