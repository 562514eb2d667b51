-- :tenant_id
-- Zero rows: no worker of this tenant has polled lately.
delete from queue_worker w where w.tenant_id = :tenant_id
returning w.worker_id
