-- :day
-- Zero rows: somebody else has forgotten the day.
delete from archived_day where day = :day and state = 'EXPIRING'
