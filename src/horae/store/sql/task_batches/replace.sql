-- No row for a key: it no longer runs, a newer intent was first, or its shard is closed. Read and decide those again.
with stopped as (
    delete from instance_live l
    using unnest($1::text::smallint[], $2::text::text[], $3::text::uuid[], $4::text::uuid[],
                 $5::text::boolean[], $6::text::timestamptz[], $7::text::jsonb[], $8::text::bigint[])
          as g(shard_id, business_key, id, new_id, keep, at, new_payload, new_version)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id and l.tenant_id = $9
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and (g.new_version is null or l.intent_version is null or l.intent_version < g.new_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.*, g.new_id, g.at, coalesce(g.new_version, l.intent_version) as kept_version,
              case when g.keep then l.payload else g.new_payload end as kept_payload),
recorded as (
    insert into instance_history (ended_at, fire_time, due_at, job_version, attempt, retry_count, held_ms,
                                  trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id,
                                  state, idem_key, business_key, worker_id, error_msg, payload, attempts)
    select $16, fire_time, due_at, job_version, attempt, retry_count, held_ms,
           trigger_delay_ms, generation, shard_id, priority, lane, id, tenant_id, job_id,
           'CANCELLED', idem_key, business_key, worker_id, error_msg, payload, attempts
    from stopped),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, replay_of,
                               payload)
    select shard_id, new_id, tenant_id, job_id, $11, idem_key, at, greatest(at, $16::timestamptz), $16,
           $12, 0, $13, $14, 'INIT', business_key, generation, kept_version, replay_of, kept_payload
    from stopped),
remembered as (
    update task_key k
    set revision = k.revision + 1, instance_id = s.new_id, intent_version = s.kept_version, updated_at = $16,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end ||
                    ($15::jsonb || jsonb_build_object('at', s.at))
    from stopped s
    where k.shard_id = any(array[s.shard_id]) and k.job_id = $10
      and k.business_key between s.business_key and s.business_key
    returning k.shard_id, k.business_key, k.instance_id, k.revision, s.id as replaced_id, s.at),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $16, shard_id, $9, $10, instance_id, 'TASK_REPLACED',
           $15::jsonb || jsonb_build_object('at', at, 'key', business_key, 'instance_id', instance_id,
                                            'replaced_id', replaced_id, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
