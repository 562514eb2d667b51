-- No row for a key: it changed since it was read, a newer intent was first, or its shard is closed. Decide those again.
with stopped as (
    delete from instance_live l
    using unnest($1::text::smallint[], $2::text::text[], $3::text::uuid[], $4::text::text[], $5::text::int[],
                 $6::text::bigint[])
          as g(shard_id, business_key, id, state, attempt, new_version)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id and l.tenant_id = $7
      and l.state = g.state and l.attempt = g.attempt
      and (g.new_version is null or l.intent_version is null or l.intent_version < g.new_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.*, g.new_version),
recorded as (
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                                  trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id,
                                  state, idem_key, business_key, worker_id, error_msg, payload, attempts)
    select $10, fire_time, due_at, job_version, attempt, retry_count, held_ms,
           trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id,
           'CANCELLED', idem_key, business_key, worker_id, error_msg, payload, attempts
    from stopped),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from stopped e
    where e.replay_of is not null
      and d.shard_id = any(array[e.shard_id]) and d.instance_id between e.replay_of and e.replay_of
      and d.replay_status = 'REPLAYING'),
remembered as (
    update task_key k
    set revision = k.revision + 1, outcome = 'CANCELLED', intent_version = coalesce(s.new_version, k.intent_version),
        updated_at = $10,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || $9::jsonb
    from stopped s
    where k.shard_id = any(array[s.shard_id]) and k.job_id = $8
      and k.business_key between s.business_key and s.business_key
    returning k.shard_id, k.business_key, k.instance_id, k.revision),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $10, shard_id, $7, $8, instance_id, 'TASK_CANCELLED',
           $9::jsonb || jsonb_build_object('key', business_key, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
