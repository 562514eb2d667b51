-- No row for a key: its generation is no longer what was read, a newer intent was first, or its shard is closed.
-- Decide those again.
with authorised as (
    update task_key k
    set generation = k.generation + 1, instance_id = g.id, outcome = null, revision = k.revision + 1, updated_at = $16,
        intent_version = coalesce(g.intent_version, k.intent_version),
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end ||
                    ($15::jsonb || jsonb_build_object('at', g.at))
    from unnest($1::text::smallint[], $2::text::text[], $3::text::int[], $4::text::uuid[], $5::text::text[],
                $6::text::timestamptz[], $7::text::jsonb[], $8::text::bigint[])
         as g(shard_id, business_key, after, id, idem_key, at, payload, intent_version)
    where k.shard_id = any(array[g.shard_id]) and k.job_id = $10
      and k.business_key between g.business_key and g.business_key
      and k.tenant_id = $9 and k.generation = g.after and k.outcome is not null
      and (g.intent_version is null or k.intent_version is null or k.intent_version < g.intent_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning k.shard_id, k.business_key, k.generation, k.instance_id, k.intent_version, k.revision,
              g.idem_key, g.at, g.payload),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, payload)
    select shard_id, instance_id, $9, $10, $11, idem_key, at, greatest(at, $16::timestamptz), $16,
           $12, 0, $13, $14, 'INIT', business_key, generation, intent_version, payload
    from authorised),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $16, shard_id, $9, $10, instance_id, 'TASK_CREATED',
           $15::jsonb || jsonb_build_object('at', at, 'key', business_key, 'instance_id', instance_id, 'revision', revision)
    from authorised)
select business_key, instance_id, revision from authorised
