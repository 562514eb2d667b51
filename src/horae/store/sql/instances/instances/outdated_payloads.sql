-- :shards :after_shard :after_id :tenant_id :key_pattern :limit
-- A page of a tenant's live payloads that its newest key has not encrypted, after the last row seen.
select l.shard_id, l.id, l.job_id, l.idem_key, l.payload
from instance_live l
where l.shard_id = any(:shards::smallint[]) and (l.shard_id, l.id) > (:after_shard, :after_id)
  and l.tenant_id = :tenant_id and l.payload is not null and coalesce(l.payload ->> '$sealed', '') not like :key_pattern
order by l.shard_id, l.id limit :limit
