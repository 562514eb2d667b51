-- :before :limit :after_created_at :after_tenant_id
-- The newest key of each tenant at home here whose live rows were not walked through since it was made.
select k.tenant_id, k.version, k.created_at
from data_key k
where k.resealed_at is null and k.created_at <= :before
  and (k.created_at, k.tenant_id) > (:after_created_at, :after_tenant_id)
  and not exists (select from data_key n
                  where (n.shard_id, n.tenant_id) = (k.shard_id, k.tenant_id) and n.version > k.version)
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
order by k.created_at, k.tenant_id limit :limit
