-- migrate:up

-- A task's idempotency key is its job, business key and generation: instance_live_business keeps it alone already. Only
-- rows without a business key need this second wall, and tasks pay an index entry less at birth and at every claim.
-- Over a small table, hence made in a moment.
create unique index instance_live_keyless on instance_live (idem_key, (shard_id::int)) where business_key is null;
-- squawk-ignore require-concurrent-index-deletion
drop index instance_live_idem;

-- migrate:down
create unique index instance_live_idem on instance_live (idem_key, (shard_id::int));
-- squawk-ignore require-concurrent-index-deletion
drop index instance_live_keyless;
