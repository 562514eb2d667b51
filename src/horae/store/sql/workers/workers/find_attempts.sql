-- :tenant_id :shards :ids
-- A row without an instance: it ended, waits again, or is another tenant's; all the same to the one who asks.
select g.id as asked, l.*,
       not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE') as open
from unnest(:shards::smallint[], :ids::uuid[]) as g(shard_id, id)
left join instance_live l
    on l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
       and l.tenant_id = :tenant_id and l.state not in ('INIT', 'FAIL', 'BLOCKED')
