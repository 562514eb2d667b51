-- :number :name :checksum
insert into schema_migration (number, name, checksum) values (:number, :name, :checksum)
