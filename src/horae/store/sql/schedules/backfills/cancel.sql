-- :shard :id :tenant_id :now
-- Zero rows: it neither runs nor is paused any more, or the shard is closed.
update backfill b
set status = 'CANCELLED', ended_at = :now, paused_at = null,
    paused_s = b.paused_s + coalesce(extract(epoch from :now - b.paused_at), 0)
where b.shard_id = :shard and b.id = :id and b.tenant_id = :tenant_id and b.status in ('RUNNING', 'PAUSED')
  and {fence}
returning b.id
