-- The name is ours, never a caller's.
grant create, usage on schema public to "{owner}"
