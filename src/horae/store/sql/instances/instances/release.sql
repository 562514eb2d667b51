-- :shards :ids :now
-- Fewer rows than asked: another fire of the same job still lives or waits for longer, or a shard is closed.
update instance_live l
set state = 'INIT', due_at = :now, changed_at = :now
from unnest(:shards::smallint[], :ids::uuid[]) as free(shard_id, id)
where l.shard_id = any(array[free.shard_id]) and l.id between free.id and free.id
  and l.state = 'BLOCKED'
  and not exists (select from instance_live o
                  where o.shard_id = l.shard_id and o.job_id = l.job_id and o.exclusive
                    and (o.state <> 'BLOCKED' or o.id < l.id))
  and not exists (select from shard s where s.shard_id = free.shard_id and s.state <> 'ACTIVE')
returning l.shard_id, l.id, l.due_at, l.tenant_id, l.priority, l.lane, l.job_id, l.job_version, l.queue
