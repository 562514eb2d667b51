-- :tenant_id
-- Zero rows: no key of the tenant is left here, neither at home nor copied.
delete from api_key k where k.tenant_id = :tenant_id
returning k.id
