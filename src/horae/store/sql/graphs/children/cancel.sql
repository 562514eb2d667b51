-- :shards :run_ids :limit :now
-- Zero rows: no child of these runs waits or is live. Their instances have ended. A call in flight is not aborted.
with over as (
    update graph_child t
    set state = 'CANCELLED', changed_at = :now
    from (select h.shard_id, h.run_id, h.position, h.number
          from unnest(:shards::smallint[], :run_ids::uuid[]) as g(shard_id, run_id)
          join graph_child h on h.shard_id = any(array[g.shard_id]) and h.run_id between g.run_id and g.run_id
                            and h.state <> 'SUCCESS' and h.state in ('WAITING', 'RELEASED')
          where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
          limit :limit) as o
    where t.shard_id = any(array[o.shard_id]) and t.run_id = o.run_id and t.position = o.position
      and t.number = o.number and t.state in ('WAITING', 'RELEASED')
    returning t.shard_id, t.instance_id),
ended as (
    delete from instance_live l
    using over o
    where l.shard_id = any(array[o.shard_id]) and l.id between o.instance_id and o.instance_id
    returning l.*),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where {replayed_dead_letter}),
recorded as (
    insert into instance_history (ended_at, state, error_msg, generation, business_key, worker_id, {history_columns})
    select :now, 'CANCELLED', error_msg, generation, business_key, worker_id, {history_columns}
    from ended)
select shard_id from over
