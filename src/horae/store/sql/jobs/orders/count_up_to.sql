-- :tenant_id :limit
-- How many living jobs a tenant has in this cell, counted up to a limit.
select count(*)
from (select from job j where j.tenant_id = :tenant_id and j.status <> 'REMOVED' limit :limit) counted
