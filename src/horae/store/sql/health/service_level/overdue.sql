-- :now :due_before :tenant_id :limit
-- Zero rows: a living node holds every shard, so what is late is counted there.
select priority, overdue from overdue_fires(:now, :due_before, :tenant_id, :limit)
