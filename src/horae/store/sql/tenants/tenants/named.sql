-- :tenant_ids
-- Of these tenants those that are at home in this cell and stand; removed ones are nobody's to choose.
select id, name, width, zone, layout, former from tenant where id = any(:tenant_ids) and status <> 'REMOVED'
