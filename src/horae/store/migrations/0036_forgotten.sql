-- migrate:up
-- without transaction

-- What was removed is looked for by its age, and forgotten.
drop index concurrently if exists secret_removed;
create index concurrently secret_removed on secret (changed_at) where sealed is null;
drop index concurrently if exists channel_removed;
create index concurrently channel_removed on channel (changed_at) where body is null;

-- Nodes ask every second for the rolling sets that are active; those that are paused or removed are not in the index.
drop index concurrently if exists reference_rolling_active;
create index concurrently reference_rolling_active on reference (id)
where kind = 'job' and body -> 'definition' -> 'trigger' ->> 'kind' = 'rolling' and body ->> 'status' = 'ACTIVE';
drop index concurrently if exists reference_rolling;

-- migrate:down
create index concurrently reference_rolling on reference (id) where kind = 'job' and body -> 'definition' -> 'trigger' ->> 'kind' = 'rolling';
drop index concurrently reference_rolling_active;
drop index concurrently secret_removed;
drop index concurrently channel_removed;
