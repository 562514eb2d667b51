-- :shard :tenant_id :key :now :rate :depth
-- Zero rows: the bucket is full, because it was never used.
select greatest(0, least(:depth::float8,
       tokens + :rate::float8 * greatest(0, extract(epoch from :now - refilled_at)))) as tokens
from quota_bucket
where shard_id = :shard and tenant_id = :tenant_id and key = :key
