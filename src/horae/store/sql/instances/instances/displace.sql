-- :shard :ids :now
-- Fewer rows than asked: the shard is closed. What runs is not aborted; its late answer finds no row.
with ended as (
    delete from instance_live l
    where l.shard_id = :shard and l.id = any(:ids::uuid[])
      and {fence}
    returning l.*),
reopened as (                                    -- a replay that was displaced: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where {replayed_dead_letter})
insert into instance_history (ended_at, state, error_msg, worker_id, {history_columns})
select :now, 'CANCELLED', error_msg, worker_id, {history_columns}
from ended
returning id
