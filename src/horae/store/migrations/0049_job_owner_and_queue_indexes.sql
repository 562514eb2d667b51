-- migrate:up
-- without transaction

-- The jobs of one owner, by name as in `job_page`. Jobs without an owner are not in it.
drop index concurrently if exists job_owner;
create index concurrently job_owner on job (tenant_id, owner, name collate "C")
    where status <> 'REMOVED' and owner is not null;

-- The queues of a tenant's jobs, and the jobs of a queue.
drop index concurrently if exists job_queue;
create index concurrently job_queue on job (tenant_id, (definition -> 'target' ->> 'name') collate "C", name collate "C")
where definition -> 'target' ->> 'kind' = 'queue' and status <> 'REMOVED';

-- migrate:down
drop index concurrently job_queue;
drop index concurrently job_owner;
