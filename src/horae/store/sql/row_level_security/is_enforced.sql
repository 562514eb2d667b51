-- Whether the wall holds this connection: neither a superuser's nor one that passes row-level security.
select not (rolsuper or rolbypassrls) from pg_roles where rolname = current_user
