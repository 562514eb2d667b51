-- :shard :tenant_id
-- How many keys a tenant has at home here, and how many were revoked and are not forgotten yet; a new one is not among
-- them.
select count(*) filter (where revoked_at is null), false, count(*) filter (where revoked_at is not null)
from api_key
where shard_id = :shard and tenant_id = :tenant_id
