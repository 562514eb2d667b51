-- The job of a batch, tied to a row of the batch `g`: compared with a parameter alone, PostgreSQL may walk through all
-- keys of the job while it believes that there are none (decision 7).
any(array[case when g.shard_id is not null then :job_id::uuid end])
