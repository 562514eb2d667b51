-- Zero rows: the job has no cursor. Nothing of it is fired until the end of the transaction.
select job_id from job_cursor where shard_id = $1 and job_id = $2 for update
