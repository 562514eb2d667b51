-- migrate:up

-- How far ahead of the truth a node knows the cell's clock to be, because it saw it jump. Whoever starts meanwhile goes
-- by this. Null: nobody doubts it.
alter table clock_offset add column doubt_ms bigint;

-- migrate:down
-- squawk-ignore ban-drop-column
alter table clock_offset drop column doubt_ms;
