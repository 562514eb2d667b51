-- :wake
-- The one place that notifies: on a connection of its own, after the commit, never with data.
select pg_notify('horae_wake', :wake)
