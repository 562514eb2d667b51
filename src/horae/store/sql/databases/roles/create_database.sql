-- The name of the database is given by whoever runs this.
create database "{database}" owner "{owner}" encoding 'UTF8' template template0
