-- migrate:up
-- without transaction

-- What was removed is looked for by its age, and forgotten.
drop index concurrently if exists secret_removed;
create index concurrently secret_removed on secret (changed_at) where sealed is null;
drop index concurrently if exists channel_removed;
create index concurrently channel_removed on channel (changed_at) where body is null;

drop index concurrently if exists api_key_revoked;
create index concurrently api_key_revoked on api_key (changed_at) where revoked_at is not null;
drop index concurrently if exists role_binding_empty;
create index concurrently role_binding_empty on role_binding (changed_at) where cardinality(roles) = 0;

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
drop index concurrently api_key_revoked;
drop index concurrently role_binding_empty;
