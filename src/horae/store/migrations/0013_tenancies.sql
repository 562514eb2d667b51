-- migrate:up

-- A tenant may be paused as a whole, or removed; what belonged to a removed one is purged afterwards.
alter table tenant
    add column paused_until timestamptz,
    add column purged_at timestamptz,
    add column status text not null default 'ACTIVE';
-- squawk-ignore adding-not-nullable-field, constraint-missing-not-valid
alter table tenant add constraint tenant_status check (status in ('ACTIVE', 'PAUSED', 'REMOVED'));
-- Few were ever held; nodes ask for them every second.
create index reference_held on reference (id) where kind = 'tenant' and body ? 'held';
create index tenant_unpurged on tenant (id) where status = 'REMOVED' and purged_at is null;

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index reference_held;
-- squawk-ignore ban-drop-column
alter table tenant drop column status, drop column purged_at, drop column paused_until;
