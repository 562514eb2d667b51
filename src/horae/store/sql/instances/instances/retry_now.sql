-- :shards :ids :tenant_id :now
-- No row for an instance: it does not wait for a retry any more, is due already, or a shard is closed.
update instance_live l
set due_at = :now, changed_at = :now
from unnest(:shards::smallint[], :ids::uuid[]) as g(shard_id, id)
where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
  and l.tenant_id = :tenant_id and l.state not in ('INIT', 'RUNNING', 'BLOCKED') and l.due_at > :now
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning l.id
