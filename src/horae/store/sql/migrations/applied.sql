select number, checksum from schema_migration order by number
