-- What nobody else can see any more may be vacuumed. Null: nobody else looks at this database now.
select min(backend_xmin::text::bigint) from pg_stat_activity
where backend_xmin is not null and datname = current_database() and pid <> pg_backend_pid()
