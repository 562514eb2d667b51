-- :shards :ids :attempts :tokens :seen_deadlines :states :reasons :error_codes :error_msgs :tags :retry_counts :durations_ms :delays_ms :attempt_notes :nodes :now
-- No row for an ending: we no longer own that attempt (replaced, cancelled, rescued), or a shard is closed.
-- The state is guarded in a form no partial index matches: the literal 'RUNNING' would pick the deadline's.
with given as (
    select * from unnest(:shards::text::smallint[], :ids::text::uuid[], :attempts::text::int[], :tokens::text::uuid[],
                         :seen_deadlines::text::timestamptz[], :states::text::text[], :reasons::text::text[],
                         :error_codes::text::text[], :error_msgs::text::text[], :tags::text::text[],
                         :retry_counts::text::int[], :durations_ms::text::int[], :delays_ms::text::int[],
                         :attempt_notes::text::jsonb[], :nodes::text::text[])
         as g(shard_id, id, attempt, token, seen_deadline,
              state, reason, error_code, error_msg, tag, retry_count,
              duration_ms, delay_ms, kept, node)),
ended as (
    delete from instance_live l
    using given g
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and l.attempt = g.attempt and l.token = g.token
      and (g.seen_deadline is null or l.deadline = g.seen_deadline)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.shard_id, l.id, l.tenant_id, l.job_id, l.job_version, l.fire_time, l.due_at, l.held_ms,
              l.generation, l.priority, l.lane, l.idem_key, l.business_key, l.worker_id, l.payload, l.attempt,
              l.replay_of, coalesce(l.trigger_delay_ms, g.delay_ms) as trigger_delay_ms,
              case when g.kept is null then l.attempts else {recent_attempts} || g.kept end as attempts,
              g.state, g.reason, g.error_code, g.error_msg, g.tag, g.retry_count, g.duration_ms, g.node),
remembered as (
    update task_key k
    set outcome = e.state, revision = k.revision + 1, updated_at = :now
    from ended e
    where e.business_key is not null
      and k.shard_id = any(array[e.shard_id]) and k.job_id = any(array[e.job_id])
      and k.business_key between e.business_key and e.business_key
      and k.instance_id = e.id),
dead_letters as (
    insert into dead_letter (shard_id, instance_id, tenant_id, job_id, job_version, fire_time, created_at, idem_key,
                             business_key, generation, error_code, error_msg, tag, payload)
    select shard_id, id, tenant_id, job_id, job_version, fire_time, :now, idem_key,
           business_key, generation, error_code, error_msg, tag, payload
    from ended where state = 'DEAD' and replay_of is null),
answered as (                                    -- for the few that are replays: their letter says what came of it
    update dead_letter d
    set replay_status = case when e.state = 'DEAD' then 'DEAD_AGAIN'
                             when e.state = 'SUCCESS' or e.reason = 'DECLINED' then 'REPLAYED'
                             else 'NEW' end,
        error_code = coalesce(e.error_code, d.error_code),
        error_msg = case when e.state = 'DEAD' then e.error_msg else d.error_msg end,
        tag = case when e.state = 'DEAD' then e.tag else d.tag end,
        cause_id = case when e.state = 'DEAD' then null else d.cause_id end
    from ended e
    where {replayed_dead_letter})
insert into instance_history (ended_at, state, reason, error_code, error_msg, duration_ms, generation, business_key,
                              worker_id, node, {history_columns})
select :now, state, reason, error_code, error_msg, duration_ms, generation, business_key, worker_id, node,
       {history_columns}
from ended
returning id
