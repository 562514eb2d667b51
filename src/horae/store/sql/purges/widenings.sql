-- Zero rows: the tenant was never widened, as this cell knows.
delete from widening w where w.tenant_id = $1 returning w.tenant_id
