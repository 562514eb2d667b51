-- One row: the account of this connection, and who owns the database and our tables. No owner of tables: it is empty.
select r.rolname::text as name, r.rolsuper as superuser, r.rolcreaterole as creates_roles,
       current_database()::text as database, pg_get_userbyid(d.datdba)::text as database_owner,
       (select pg_get_userbyid(c.relowner)::text from pg_class c where c.oid = to_regclass('schema_migration')) as table_owner
from pg_roles r, pg_database d
where r.rolname = current_user and d.datname = current_database()
