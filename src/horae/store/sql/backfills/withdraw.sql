-- Zero rows: nothing of this backfill waits. What is RUNNING goes on. The keys of a re-run end with its own letters ($6).
with ended as (
    delete from instance_live l
    where l.shard_id = $1 and l.job_id = $2 and l.lane = 2 and l.replay_of is null
      and l.fire_time >= $3 and l.fire_time < $4 and l.state in ('INIT', 'FAIL')
      and split_part(l.idem_key, ':', 3) = $6
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning l.*)
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                              trigger_delay_ms, shard_id, priority, lane, id, tenant_id, job_id, state,
                              idem_key, error_msg, payload, attempts)
select $5, fire_time, due_at, job_version, attempt, retry_count, held_ms,
       trigger_delay_ms, shard_id, priority, lane, id, tenant_id, job_id, 'CANCELLED',
       idem_key, error_msg, payload, attempts
from ended
returning id
