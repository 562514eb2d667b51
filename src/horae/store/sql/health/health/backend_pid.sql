-- The pid of the session on the host of the server.
select pg_backend_pid()
