-- :shards :instance_ids :states :reasons :now
-- Zero rows: these ends are recorded already, or a shard is closed. The runs of the steps are decided about next.
with recorded as (
    update graph_step t
    set state = g.state, reason = g.reason, changed_at = :now
    from unnest(:shards::smallint[], :instance_ids::uuid[], :states::text[], :reasons::text[])
         as g(shard_id, instance_id, state, reason)
    where t.shard_id = any(array[g.shard_id]) and t.instance_id between g.instance_id and g.instance_id
      and t.state = 'RELEASED'
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning t.shard_id, t.run_id),
recorded_children as (
    update graph_child t
    set state = g.state, reason = g.reason, changed_at = :now
    from unnest(:shards::smallint[], :instance_ids::uuid[], :states::text[], :reasons::text[])
         as g(shard_id, instance_id, state, reason)
    where t.shard_id = any(array[g.shard_id]) and t.instance_id between g.instance_id and g.instance_id
      and t.state = 'RELEASED'
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning t.shard_id, t.run_id)
update graph_run r
set stale = true
from (select d.shard_id, d.run_id from recorded d union select c.shard_id, c.run_id from recorded_children c) changed
where r.shard_id = any(array[changed.shard_id]) and r.id between changed.run_id and changed.run_id
returning r.id
