-- :shard :id :tenant_id
-- Zero rows: the run has ended, or its shard is closed. Locked until the transaction ends; nodes decide about it next.
update graph_run r
set stale = true
where r.shard_id = :shard and r.id = :id and r.tenant_id = :tenant_id and r.ended_at is null
  and {fence}
returning r.id
