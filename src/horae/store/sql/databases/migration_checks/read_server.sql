-- One row. No table of ours: `migrated` is false, and there is nothing else to read.
select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
       current_database()::text as database, to_regclass('schema_migration') is not null as migrated
