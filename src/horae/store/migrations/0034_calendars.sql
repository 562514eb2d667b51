-- migrate:up

-- How many single days a calendar names: counted together they have a bound of the tenant's.
alter table calendar add column days integer not null default 0;
update calendar
set days = coalesce(jsonb_array_length(body -> 'added'), 0) + coalesce(jsonb_array_length(body -> 'removed'), 0);

-- Calendars are read by the names that jobs use.
create index reference_calendar on reference (tenant_id, name) where kind = 'calendar';

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index reference_calendar;
-- squawk-ignore ban-drop-column
alter table calendar drop column days;
