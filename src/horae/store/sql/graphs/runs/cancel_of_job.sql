-- :shard :job_id :now
-- Zero rows: no run of this graph is open. A node closes the runs, and cancels what is left of them.
with ended as (
    delete from instance_live l
    using graph_run r
    where r.job_id = :job_id and r.shard_id = :shard and r.ended_at is null
      and l.shard_id = r.shard_id and l.id = r.id
      and {fence}
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
