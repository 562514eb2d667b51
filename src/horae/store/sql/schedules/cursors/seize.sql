-- :shard :job_id
-- Zero rows: the job has no cursor. Nothing of it is fired until the end of the transaction.
select job_id from job_cursor where shard_id = :shard and job_id = :job_id for update
