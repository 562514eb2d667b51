-- :shard :id :tenant_id :now
-- Zero rows: it does not run any more, or the shard is closed.
update backfill b
set status = 'CANCELLED', ended_at = :now
where b.shard_id = :shard and b.id = :id and b.tenant_id = :tenant_id and b.status = 'RUNNING'
  and {fence}
returning b.id
