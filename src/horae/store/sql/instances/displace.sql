-- Fewer rows than asked: the shard is closed. What runs is not aborted; its late answer finds no row.
with ended as (
    delete from instance_live l
    where l.shard_id = $1 and l.id = any($2::uuid[])
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning l.*),
reopened as (                                    -- a replay that was displaced: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from ended e
    where e.replay_of is not null
      and d.shard_id = any(array[e.shard_id]) and d.instance_id between e.replay_of and e.replay_of
      and d.replay_status = 'REPLAYING')
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                              trigger_delay_ms, shard_id, priority, lane, id, tenant_id, job_id, state,
                              idem_key, worker_id, error_msg, payload, attempts)
select $3, fire_time, due_at, job_version, attempt, retry_count, held_ms,
       trigger_delay_ms, shard_id, priority, lane, id, tenant_id, job_id, 'CANCELLED',
       idem_key, worker_id, error_msg, payload, attempts
from ended
returning id
