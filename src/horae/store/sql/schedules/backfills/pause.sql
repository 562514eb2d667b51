-- :shard :id :tenant_id :now
-- Zero rows: it does not run, or the shard is closed.
update backfill b
set status = 'PAUSED', paused_at = :now
where b.shard_id = :shard and b.id = :id and b.tenant_id = :tenant_id and b.status = 'RUNNING'
  and {fence}
returning b.id
