-- :shard :id
-- Zero rows: the job is gone. Others who would change or backfill it wait until the end of the transaction.
select id from job where shard_id = :shard and id = :id and status <> 'REMOVED' for update
