select pg_advisory_lock(7023015611)
