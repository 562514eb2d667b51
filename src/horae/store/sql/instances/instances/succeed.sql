-- :shards :ids :attempts :tokens :durations_ms :now
-- No row for an attempt: we no longer own it (replaced, cancelled, rescued), or its shard is closed.
-- The plainest end of all, for batches of workers' reports: SUCCESS, with nothing to tell but how long it took.
-- The state is guarded in a form no partial index matches, as where anything else ends.
with given as (
    select * from unnest(:shards::text::smallint[], :ids::text::uuid[], :attempts::text::int[], :tokens::text::uuid[],
                         :durations_ms::text::int[])
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
              -- The only attempt of a worker is not noted: its row says the same.
              case when l.attempt > 1 or l.worker_id is null then
                  ({recent_attempts}) || jsonb_strip_nulls(jsonb_build_object(
                      'attempt', l.attempt, 'duration_ms', g.duration_ms, 'worker_id', l.worker_id,
                      'started_at', :now::timestamptz - g.duration_ms * interval '1 ms'))
              end as attempts),
remembered as (
    update task_key k
    set outcome = 'SUCCESS', revision = k.revision + 1, updated_at = :now
    from ended e
    where e.business_key is not null
      and k.shard_id = any(array[e.shard_id]) and k.job_id = any(array[e.job_id])
      and k.business_key between e.business_key and e.business_key
      and k.instance_id = e.id),
answered as (                                    -- for the few that are replays: their letter says what came of it
    update dead_letter d
    set replay_status = 'REPLAYED'
    from ended e
    where {replayed_dead_letter})
insert into instance_history (ended_at, state, duration_ms, generation, business_key, worker_id, {history_columns})
select :now, 'SUCCESS', duration_ms, generation, business_key, worker_id, {history_columns}
from ended
returning id
