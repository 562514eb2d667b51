-- migrate:up

-- How many single days a calendar names: counted together they have a bound of the tenant's.
alter table calendar add column days integer not null default 0;
update calendar
set days = coalesce(jsonb_array_length(body -> 'added'), 0) + coalesce(jsonb_array_length(body -> 'removed'), 0);

-- migrate:down
-- squawk-ignore ban-drop-column
alter table calendar drop column days;
