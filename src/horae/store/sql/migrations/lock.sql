-- False: another process migrates this cell. Who waited inside a statement would hold a snapshot, and an index that is
-- built CONCURRENTLY waits until nobody holds an older one.
select pg_try_advisory_lock(7023015611)
