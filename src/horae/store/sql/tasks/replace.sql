-- Zero rows: it no longer runs, a newer intent was first, or the shard is closed. Read again and decide again.
with stopped as (
    delete from instance_live l
    where l.shard_id = $1 and l.id = $5 and l.tenant_id = $2
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and ($10::bigint is null or l.intent_version is null or l.intent_version < $10)
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning l.*),
recorded as (
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                                  trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id,
                                  state, idem_key, business_key, worker_id, error_msg, payload, attempts)
    select $15, fire_time, due_at, job_version, attempt, retry_count, held_ms,
           trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id,
           'CANCELLED', idem_key, business_key, worker_id, error_msg, payload, attempts
    from stopped),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, replay_of,
                               payload)
    select shard_id, $6, tenant_id, job_id, $11, idem_key, $7::timestamptz, greatest($7, $15::timestamptz), $15,
           $12, 0, $13, $16, 'INIT', business_key, generation, coalesce($10::bigint, intent_version), replay_of,
           case when $8 then payload else $9::jsonb end
    from stopped
    returning id, intent_version),
remembered as (
    update task_key k
    set revision = k.revision + 1, instance_id = born.id, intent_version = born.intent_version, updated_at = $15,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || $14::jsonb
    from born
    where k.shard_id = $1 and k.job_id = $3 and k.business_key = $4
    returning k.instance_id, k.revision),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $15, $1, $2, $3, instance_id, 'TASK_REPLACED',
           $14::jsonb || jsonb_build_object('key', $4::text, 'instance_id', instance_id, 'replaced_id', $5::uuid, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
