-- :tenant_id
-- Zero rows: no worker of this tenant is drained.
delete from worker_drain d where d.tenant_id = :tenant_id
returning d.worker_id
