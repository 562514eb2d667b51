-- Zero rows: the key's generation is no longer $5, a newer intent was first, the tenant was widened more
-- often than $17, or the shard is closed. Decide again.
with authorised as (
    insert into task_key as k (shard_id, tenant_id, job_id, business_key, generation, instance_id, intent_version,
                               decisions, updated_at)
    select $1, $2, $3, $4, $5::int + 1, $6, $10::bigint, jsonb_build_array($14::jsonb), $15
    where not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
      and not exists (select from widening w where w.tenant_id = $2 and w.number > $17 for key share)
    on conflict (shard_id, job_id, business_key) do update
    set generation = excluded.generation, instance_id = excluded.instance_id, outcome = null,
        intent_version = coalesce(excluded.intent_version, k.intent_version), revision = k.revision + 1,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || $14::jsonb,
        updated_at = excluded.updated_at
    where k.generation = $5 and k.outcome is not null
      and (excluded.intent_version is null or k.intent_version is null or k.intent_version < excluded.intent_version)
    returning k.shard_id, k.tenant_id, k.job_id, k.business_key, k.generation, k.instance_id, k.intent_version, k.revision),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, payload)
    select shard_id, instance_id, tenant_id, job_id, $11, $7, $8::timestamptz, greatest($8, $15::timestamptz), $15,
           $12, 0, $13, $16, 'INIT', business_key, generation, intent_version, $9
    from authorised),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $15, shard_id, tenant_id, job_id, instance_id, 'TASK_CREATED',
           $14::jsonb || jsonb_build_object('key', business_key, 'instance_id', instance_id, 'revision', revision)
    from authorised)
select instance_id, revision from authorised
