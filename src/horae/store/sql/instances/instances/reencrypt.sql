-- :shards :ids :old_payloads :new_payloads
-- No row for an instance: it has ended, its payload is another one now, or its shard is closed. Nothing is lost by it.
update instance_live l
set payload = g.after
from unnest(:shards::smallint[], :ids::uuid[], :old_payloads::jsonb[], :new_payloads::jsonb[])
     as g(shard_id, id, before, after)
where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id and l.payload = g.before
  and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
returning l.id
