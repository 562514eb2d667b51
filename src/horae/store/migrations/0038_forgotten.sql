-- migrate:up
-- without transaction

-- What was removed is looked for by its age, and forgotten.
drop index concurrently if exists secret_removed;
create index concurrently secret_removed on secret (changed_at) where sealed is null;
drop index concurrently if exists channel_removed;
create index concurrently channel_removed on channel (changed_at) where body is null;

-- migrate:down
drop index concurrently secret_removed;
drop index concurrently channel_removed;
