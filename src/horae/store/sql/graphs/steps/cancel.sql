-- :shards :run_ids :now
-- Zero rows: no step of these runs had a live instance. The runs have just ended. A call in flight is not aborted.
with over as (
    update graph_step s
    set state = 'CANCELLED', changed_at = :now
    from unnest(:shards::smallint[], :run_ids::uuid[]) as g(shard_id, run_id)
    where s.shard_id = any(array[g.shard_id]) and s.run_id between g.run_id and g.run_id
      and s.state in ('WAITING', 'BLOCKED', 'RELEASED')
    returning s.shard_id, s.instance_id),
ended as (
    delete from instance_live l
    using over o
    where l.shard_id = any(array[o.shard_id]) and l.id between o.instance_id and o.instance_id
    returning l.*),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where {replayed_dead_letter})
insert into instance_history (ended_at, state, error_msg, generation, business_key, worker_id, {history_columns})
select :now, 'CANCELLED', error_msg, generation, business_key, worker_id, {history_columns}
from ended
returning id
