-- :tenant_id
-- Zero rows: the tenant has logged nothing here.
delete from log_usage u where u.tenant_id = :tenant_id returning u.tenant_id
