-- :first_shards :last_shards :among :limit :now
-- Zero rows: the instance of every open run lives. A run ends as its instance did; without a record of that, cancelled.
-- A run with open children is only named: they are cancelled before it is closed.
with over as materialized (
    select r.ctid, r.shard_id, r.id, r.started_at,
           exists (select from graph_child c
                   where c.shard_id = any(array[r.shard_id]) and c.run_id between r.id and r.id
                     and c.state <> 'SUCCESS' and c.state in ('WAITING', 'RELEASED')) as has_children
    from graph_run r
    where r.ended_at is null and (:among::uuid[] is null or r.id = any(:among::uuid[]))
      and exists (select from unnest(:first_shards::int[], :last_shards::int[]) as run(first, last)
                  where r.shard_id::int between run.first and run.last)
      and not exists (select from instance_live l where l.shard_id = any(array[r.shard_id])
                                                    and l.id between r.id and r.id)
      and not exists (select from shard s where s.shard_id = r.shard_id and s.state <> 'ACTIVE')
    limit :limit
    for update of r skip locked),
ends as (
    select o.ctid, coalesce(h.ended_at, :now::timestamptz) as ended_at, coalesce(h.state, 'CANCELLED') as state
    from over o
    left join lateral (
        select h.ended_at, h.state from instance_history h
        where h.id = o.id and h.ended_at >= o.started_at - interval '1 hour'
        limit 1) h on true
    where not o.has_children),
closed as (
    update graph_run r
    set ended_at = e.ended_at, state = e.state, stale = false, blocked = false
    from ends e
    where r.ctid = e.ctid),
stopped as (                                     -- nothing is decided any more, so no other child starts
    update graph_run r set stale = false from over o where r.ctid = o.ctid and o.has_children)
select o.shard_id, o.id, o.has_children from over o
