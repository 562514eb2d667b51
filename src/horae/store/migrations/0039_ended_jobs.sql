-- migrate:up
-- without transaction

-- Jobs that have ended are looked for by their age, and forgotten. The condition must tempt no other plan: as
-- `status in (…)` it fits the lookup of removed jobs by their ids, which then walked through all that have ended.
drop index concurrently if exists job_ended;
create index concurrently job_ended on job (changed_at) where lower(status) in ('completed', 'removed');

-- migrate:down
drop index concurrently job_ended;
