-- :name :environment
-- A cell keeps the name and the environment it was given first.
insert into cell (name, environment) values (:name, :environment) on conflict do nothing
