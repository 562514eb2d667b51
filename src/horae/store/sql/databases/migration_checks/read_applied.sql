select number, name, checksum from schema_migration order by number
