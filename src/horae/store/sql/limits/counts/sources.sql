-- :tenant_id :job_id
-- How many sources a tenant has in this cell, and whether that of a type is among them.
select count(*), coalesce(bool_or(job_id = :job_id), false) from source where tenant_id = :tenant_id
