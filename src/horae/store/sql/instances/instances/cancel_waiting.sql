-- :shard :job_id :now
-- Zero rows: nothing of this job waits in its own shard. What is RUNNING goes on.
with ended as (
    delete from instance_live l
    where l.shard_id = :shard and l.job_id = :job_id and l.state in ('INIT', 'FAIL', 'BLOCKED')
      and {fence}
    returning l.*),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where {replayed_dead_letter}),
remembered as (
    update task_key k
    set outcome = 'CANCELLED', revision = k.revision + 1, updated_at = :now
    from ended e
    where (k.shard_id, k.job_id, k.business_key) = (e.shard_id, e.job_id, e.business_key) and k.instance_id = e.id)
insert into instance_history (ended_at, state, error_msg, generation, business_key, {history_columns})
select :now, 'CANCELLED', error_msg, generation, business_key, {history_columns}
from ended
returning id
