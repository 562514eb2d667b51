-- :tenant_id :shard :instance_ids :since
-- No row for an instance: it has not ended, returned nothing, ended in another cell, or its day is dropped.
select r.instance_id, r.body
from instance_result r
where r.shard_id = :shard and r.instance_id = any(:instance_ids::uuid[])
  and r.tenant_id = :tenant_id and r.ended_at >= :since
