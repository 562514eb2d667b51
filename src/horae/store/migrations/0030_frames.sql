-- migrate:up

-- Calls of a rate are granted by the frame, ahead of time: how many in the frame that begins at refilled_at and in each
-- one after it. See docs/limits.md.
alter table quota_bucket add column granted double precision[] not null default '{}';

-- migrate:down
-- squawk-ignore ban-drop-column
alter table quota_bucket drop column granted;
