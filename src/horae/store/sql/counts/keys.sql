-- How many keys a tenant has at home here, and how many were revoked and are not forgotten yet; a new one is not among them.
select count(*) filter (where revoked_at is null), false, count(*) filter (where revoked_at is not null)
from api_key
where shard_id = $1 and tenant_id = $2
