-- migrate:up

-- The list of a tenant's instances by fire time. Over no day yet: new days get it as they are made, and `horae migrate`
-- then builds it for each day that is there, concurrently, so that nobody waits.
-- squawk-ignore require-concurrent-index-creation
create index instance_history_tenant on only instance_history (tenant_id, fire_time);

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index instance_history_tenant;
