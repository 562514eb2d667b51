insert into schema_migration (number, name, checksum) values ($1, $2, $3)
