-- :shards :run_ids :positions :instance_ids :states :reasons :read_shards :read_run_ids :read_positions :now
-- Records ends of steps whose runs the same transaction has locked, and reads other steps as they were before.
-- No row for an end: it is recorded already, or its shard is closed. The state is guarded in a form no partial index
-- matches: a step is found by its place.
with recorded as (
    update graph_step t
    set state = g.state, reason = g.reason, changed_at = :now
    from unnest(:shards::text::smallint[], :run_ids::text::uuid[], :positions::text::smallint[],
                :instance_ids::text::uuid[], :states::text::text[], :reasons::text::text[])
         as g(shard_id, run_id, position, instance_id, state, reason)
    where t.shard_id = any(array[g.shard_id]) and t.run_id between g.run_id and g.run_id and t.position = g.position
      and t.instance_id = g.instance_id
      and t.state not in ('WAITING', 'BLOCKED', 'SUCCESS', 'DEAD', 'CANCELLED', 'SKIPPED', 'WAIVED')
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning t.run_id, t.position, t.state, t.generation)
select run_id, position, state, generation, true as is_end from recorded
union all
select o.run_id, o.position, o.state, o.generation, false
from unnest(:read_shards::text::smallint[], :read_run_ids::text::uuid[], :read_positions::text::smallint[])
     as w(shard_id, run_id, position)
join graph_step o on o.shard_id = any(array[w.shard_id]) and o.run_id between w.run_id and w.run_id
                 and o.position = w.position
