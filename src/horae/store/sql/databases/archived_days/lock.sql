-- One process at a time; the lock ends with the session.
select pg_try_advisory_lock(7023015614)
