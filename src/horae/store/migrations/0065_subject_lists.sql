-- migrate:up
-- without transaction

-- The subjects of a set by status (0 never run, 1 running, 2 succeeded, 3 failed) and key, and those of a batch. The
-- condition is true of every row; it keeps statements that do not ask for a status from going by this index.
drop index concurrently if exists subject_status;
create index concurrently subject_status on subject (shard_id, job_id, (case when instance_id is not null then 1
    when finished_at is null then 0 when last_success_at = finished_at then 2 else 3 end), key)
where (case when instance_id is not null then 1 when finished_at is null then 0
            when last_success_at = finished_at then 2 else 3 end) is not null;
drop index concurrently if exists subject_batch;
create index concurrently subject_batch on subject (batch_no, key) where batch_no is not null;

-- migrate:down
drop index concurrently subject_batch;
drop index concurrently subject_status;
