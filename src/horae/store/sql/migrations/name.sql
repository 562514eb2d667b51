-- A cell keeps the name and the environment it was given first.
insert into cell (name, environment) values ($1, $2) on conflict do nothing
