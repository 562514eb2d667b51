-- Zero rows: the job is gone. Others who would change or backfill it wait until the end of the transaction.
select id from job where shard_id = $1 and id = $2 and status <> 'REMOVED' for update
