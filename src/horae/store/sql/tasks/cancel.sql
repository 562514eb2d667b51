-- Zero rows: it changed since it was read, a newer intent was first, or the shard is closed. Decide again.
with stopped as (
    delete from instance_live l
    where l.shard_id = $1 and l.id = $5 and l.tenant_id = $2 and l.state = $6::text and l.attempt = $7
      and ($8::bigint is null or l.intent_version is null or l.intent_version < $8)
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning l.*),
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
    set revision = k.revision + 1, outcome = 'CANCELLED', intent_version = coalesce($8::bigint, k.intent_version),
        updated_at = $10,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || $9::jsonb
    from stopped
    where k.shard_id = $1 and k.job_id = $3 and k.business_key = $4
    returning k.instance_id, k.revision),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $10, $1, $2, $3, instance_id, 'TASK_CANCELLED',
           $9::jsonb || jsonb_build_object('key', $4::text, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
