-- :shards :ids :attempts :tokens :deadlines :delays_ms :now
-- No row for an attempt: we no longer own it, or a shard is closed.
-- From now on no node of ours answers for it, so if nothing is heard the one who accepted it has vanished.
update instance_live l
set deadline = g.deadline, owner = null, worker_id = coalesce(l.worker_id, 'target'), changed_at = :now,
    trigger_delay_ms = coalesce(l.trigger_delay_ms, g.delay_ms)
from unnest(:shards::smallint[], :ids::uuid[], :attempts::int[], :tokens::uuid[], :deadlines::timestamptz[],
            :delays_ms::int[])
     as g(shard_id, id, attempt, token, deadline, delay_ms)
where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
  and l.state not in ('INIT', 'FAIL', 'BLOCKED')
  and l.attempt = g.attempt and l.token = g.token
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning l.id
