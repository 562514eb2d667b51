-- migrate:up

-- What a node noticed in a minute that makes fires late: stalls of its loop, definitions that it read, the target with
-- most of its slots. Null in the rows of tenants.
alter table signal add column strain jsonb;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table signal drop column strain;
