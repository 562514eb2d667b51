-- The name is ours, never a caller's. It need not be there.
drop database if exists "{name}" with (force)
