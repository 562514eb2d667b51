-- Zero rows: no key of the tenant is left here, neither at home nor copied.
delete from api_key k where k.tenant_id = $1
returning k.id
