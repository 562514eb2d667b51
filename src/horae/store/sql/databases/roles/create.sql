-- The name is ours, never a caller's. Whatever is not said is denied; it has no password, so nobody logs in with one.
create role "{role}" login
