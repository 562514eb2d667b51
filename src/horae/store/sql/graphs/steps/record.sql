-- :shards :instance_ids :states :reasons :now
-- Zero rows: these ends are recorded already, or a shard is closed. The runs of the steps are decided about next.
-- Each row is found by its instance: as a join, PostgreSQL may read all live children for every end.
with given as materialized (
    select * from unnest(:shards::smallint[], :instance_ids::uuid[], :states::text[], :reasons::text[])
         as g(shard_id, instance_id, state, reason)
    where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')),
recorded as (
    update graph_step t
    set state = found.state, reason = found.reason, changed_at = :now
    from (select own.place, g.state, g.reason
          from given g
          cross join lateral (
              select hs.ctid as place from graph_step hs
              where hs.shard_id = any(array[g.shard_id]) and hs.instance_id between g.instance_id and g.instance_id
                and hs.state = 'RELEASED'
              limit 1) own) found
    where t.ctid = found.place and t.state = 'RELEASED'
    returning t.shard_id, t.run_id),
recorded_children as (
    update graph_child t
    set state = found.state, reason = found.reason, changed_at = :now
    from (select own.place, g.state, g.reason
          from given g
          cross join lateral (
              select hc.ctid as place from graph_child hc
              where hc.shard_id = any(array[g.shard_id]) and hc.instance_id between g.instance_id and g.instance_id
                and hc.state = 'RELEASED'
              limit 1) own) found
    where t.ctid = found.place and t.state = 'RELEASED'
    returning t.shard_id, t.run_id)
update graph_run r
set stale = true
from (select d.shard_id, d.run_id from recorded d union select c.shard_id, c.run_id from recorded_children c) changed
where r.shard_id = any(array[changed.shard_id]) and r.id between changed.run_id and changed.run_id
returning r.id
