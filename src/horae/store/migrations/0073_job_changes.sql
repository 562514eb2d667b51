-- migrate:up
-- without transaction

-- The jobs of a tenant by their last change: what was changed last is looked for first. A fire does not write to it.
drop index concurrently if exists job_changed;
create index concurrently job_changed on job (tenant_id, changed_at, name collate "C") where status <> 'REMOVED';

-- migrate:down
drop index concurrently job_changed;
