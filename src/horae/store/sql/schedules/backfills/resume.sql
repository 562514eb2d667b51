-- :shard :id :tenant_id :now
-- Zero rows: it is not paused, or the shard is closed.
update backfill b
set status = 'RUNNING', paused_at = null,
    paused_s = b.paused_s + greatest(extract(epoch from :now - b.paused_at), 0)
where b.shard_id = :shard and b.id = :id and b.tenant_id = :tenant_id and b.status = 'PAUSED'
  and {fence}
returning b.id
