-- :shards :ids :attempts :tokens :seen_deadlines :states :due_times :next_attempts :retry_counts :crash_counts :error_codes :error_msgs :delays_ms :attempt_notes :now
-- No row for an instance: we no longer own that attempt, a heartbeat came in between, or a shard is closed.
with given as (
    select * from unnest(:shards::text::smallint[], :ids::text::uuid[], :attempts::text::int[], :tokens::text::uuid[],
                         :seen_deadlines::text::timestamptz[], :states::text::text[], :due_times::text::timestamptz[],
                         :next_attempts::text::int[], :retry_counts::text::int[], :crash_counts::text::smallint[],
                         :error_codes::text::text[], :error_msgs::text::text[], :delays_ms::text::int[],
                         :attempt_notes::text::jsonb[])
         as g(shard_id, id, attempt, token, seen_deadline,
              state, due_at, next_attempt, retry_count, crash_count,
              error_code, error_msg, delay_ms, kept)),
released as (
    update instance_live l
    set state = g.state, due_at = g.due_at, attempt = g.next_attempt, retry_count = g.retry_count,
        crash_count = g.crash_count, error_msg = g.error_msg, changed_at = :now,
        lane = case when l.lane = 0 and g.retry_count > 0 then 1 else l.lane end,
        trigger_delay_ms = coalesce(l.trigger_delay_ms, g.delay_ms),
        attempts = case when g.kept is null then l.attempts else {recent_attempts} || g.kept end,
        token = null, owner = null, deadline = null, worker_id = null
    from given g
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and l.attempt = g.attempt and l.token = g.token
      and (g.seen_deadline is null or l.deadline = g.seen_deadline)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.shard_id, l.id, l.tenant_id, l.job_id, l.retry_count, l.due_at, g.attempt, g.error_code, g.error_msg),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, tenant_id, job_id, id, 'INSTANCE_FAILED',
           jsonb_build_object('attempt', attempt, 'retry_count', retry_count, 'next', due_at,
                              'error_code', error_code, 'error_msg', error_msg)
    from released where error_code is not null)
select id from released
