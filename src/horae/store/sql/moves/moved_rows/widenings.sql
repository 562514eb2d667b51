-- How often each tenant was widened, as this cell knows.
select w.tenant_id, w.number from widening w
