select pg_advisory_unlock(7023015614)
