-- migrate:up
-- without transaction

-- Jobs that have ended are looked for by their age, and forgotten.
drop index concurrently if exists job_ended;
create index concurrently job_ended on job (changed_at) where status in ('COMPLETED', 'REMOVED');

-- migrate:down
drop index concurrently job_ended;
