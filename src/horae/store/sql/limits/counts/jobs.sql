-- :tenant_id
-- How many living jobs a tenant has in this cell.
select count(*) from job where tenant_id = :tenant_id and status <> 'REMOVED'
