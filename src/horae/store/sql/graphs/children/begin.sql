-- :shards :run_ids :positions :counts :now
-- A step that was started or ended meanwhile stays as it is. Children that are there stay, because their step is run again.
with begun as (
    update graph_step t
    set state = 'RELEASED', children = g.children, instance_id = null, changed_at = :now, reason = null
    from unnest(:shards::smallint[], :run_ids::uuid[], :positions::smallint[], :counts::int[])
         as g(shard_id, run_id, position, children)
    where t.shard_id = any(array[g.shard_id]) and t.run_id between g.run_id and g.run_id and t.position = g.position
      and t.state in ('WAITING', 'BLOCKED')
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning t.shard_id, t.run_id, t.tenant_id, t.position, t.children)
insert into graph_child (shard_id, run_id, tenant_id, position, number, changed_at)
select b.shard_id, b.run_id, b.tenant_id, b.position, n, :now
from begun b cross join lateral generate_series(0, b.children - 1) as n
on conflict (shard_id, run_id, position, number) do nothing
