-- migrate:up
-- without transaction

-- The few jobs that start after another one: a node asks for all of them, the API for those of a tenant.
drop index concurrently if exists job_after;
create index concurrently job_after on job (tenant_id, id) where definition ? 'after' and status <> 'REMOVED';

-- migrate:down
drop index concurrently job_after;
