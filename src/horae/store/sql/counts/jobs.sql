-- How many living jobs a tenant has in this cell.
select count(*) from job where tenant_id = $1 and status <> 'REMOVED'
