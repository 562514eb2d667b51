-- :after_shard :after_tenant_id :after_version :limit
-- The keys at home here in the order of their tenants, after the last one seen.
select k.shard_id, k.tenant_id, k.version, k.wrapped
from data_key k
where (k.shard_id, k.tenant_id, k.version) > (:after_shard, :after_tenant_id, :after_version)
  and not exists (select from shard s where s.shard_id = k.shard_id and s.state <> 'ACTIVE')
order by k.shard_id, k.tenant_id, k.version limit :limit
