-- How many sources a tenant has in this cell, and whether that of a type is among them.
select count(*), coalesce(bool_or(job_id = $2), false) from source where tenant_id = $1
