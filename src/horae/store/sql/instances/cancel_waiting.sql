-- Zero rows: nothing of this job waits in its own shard. What is RUNNING goes on.
with ended as (
    delete from instance_live l
    where l.shard_id = $1 and l.job_id = $2 and l.state in ('INIT', 'FAIL', 'BLOCKED')
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning l.*),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where e.replay_of is not null
      and d.shard_id = any(array[e.shard_id]) and d.instance_id between e.replay_of and e.replay_of
      and d.replay_status = 'REPLAYING'),
remembered as (
    update task_key k
    set outcome = 'CANCELLED', revision = k.revision + 1, updated_at = $3
    from ended e
    where (k.shard_id, k.job_id, k.business_key) = (e.shard_id, e.job_id, e.business_key) and k.instance_id = e.id)
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                              trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id, state,
                              idem_key, business_key, error_msg, payload, attempts)
select $3, fire_time, due_at, job_version, attempt, retry_count, held_ms,
       trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id, 'CANCELLED',
       idem_key, business_key, error_msg, payload, attempts
from ended
returning id
