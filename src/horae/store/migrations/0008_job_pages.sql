-- migrate:up

-- Pages of jobs go over several cells, which may sort text each in its own way. Bytes are the same everywhere.
create index job_page on job (tenant_id, name collate "C") where status <> 'REMOVED';

-- migrate:down
-- squawk-ignore require-concurrent-index-deletion
drop index job_page;
