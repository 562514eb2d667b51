-- No row for an attempt: we no longer own it (replaced, cancelled, rescued), or its shard is closed.
-- The plainest end of all, for batches of workers' reports: SUCCESS, with nothing to tell but how long it took.
-- The state is guarded in a form no partial index matches, as where anything else ends.
with given as (
    select * from unnest($1::text::smallint[], $2::text::uuid[], $3::text::int[], $4::text::uuid[], $5::text::int[])
         as g(shard_id, id, attempt, token, duration_ms)),
ended as (
    delete from instance_live l
    using given g
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and l.attempt = g.attempt and l.token = g.token
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.shard_id, l.id, l.tenant_id, l.job_id, l.job_version, l.fire_time, l.due_at, l.held_ms, l.generation,
              l.priority, l.lane, l.idem_key, l.business_key, l.worker_id, l.payload, l.attempt, l.retry_count,
              l.replay_of, l.trigger_delay_ms, g.duration_ms,
              (case when jsonb_array_length(l.attempts) >= 20 then l.attempts - 0 else coalesce(l.attempts, '[]') end)
              || jsonb_build_object('attempt', l.attempt, 'duration_ms', g.duration_ms) as attempts),
remembered as (
    update task_key k
    set outcome = 'SUCCESS', revision = k.revision + 1, updated_at = $6
    from ended e
    where e.business_key is not null
      and k.shard_id = any(array[e.shard_id]) and k.job_id = any(array[e.job_id])
      and k.business_key between e.business_key and e.business_key
      and k.instance_id = e.id),
answered as (                                    -- for the few that are replays: their letter says what came of it
    update dead_letter d
    set replay_status = 'REPLAYED'
    from ended e
    where e.replay_of is not null
      and d.shard_id = any(array[e.shard_id]) and d.instance_id between e.replay_of and e.replay_of
      and d.replay_status = 'REPLAYING')
insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                              trigger_delay_ms, duration_ms, generation, shard_id, priority, lane, id, tenant_id,
                              job_id, state, idem_key, business_key, worker_id, payload, attempts)
select $6, fire_time, due_at, job_version, attempt, retry_count, held_ms,
       trigger_delay_ms, duration_ms, generation, shard_id, priority, lane, id, tenant_id,
       job_id, 'SUCCESS', idem_key, business_key, worker_id, payload, attempts
from ended
returning id
