-- :tenant_id
-- Zero rows: the tenant was never widened, as this cell knows.
delete from widening w where w.tenant_id = :tenant_id returning w.tenant_id
