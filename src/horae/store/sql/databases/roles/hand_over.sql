-- The name of the database is in the DSN of whoever runs this.
alter database "{database}" owner to "{owner}"
