-- migrate:up

-- The node that made the attempt of a plain success. Such an attempt is not noted, because the row says all about it; the
-- notes of all other attempts name their nodes.
alter table instance_history add column node text;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table instance_history drop column node;
