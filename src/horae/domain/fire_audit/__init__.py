"""Which fires should exist, computed a second time, and compared with the rows.

Nothing here is shared with the planning of the engine: stored definitions are read anew, and only the cron engine and
the zones are the same. The cron engine has an oracle of its own in the tests. A lint rule keeps it so.
"""
