-- :shards :business_keys :from_generations :instance_ids :idem_keys :fire_times :payloads :intent_versions :tenant_id :job_id :job_version :priority :slot_ms :queue :note :now :caller_trace
-- No row for a key: its generation is no longer what was read, a newer intent was first, or its shard is closed.
-- Decide those again.
with authorised as (
    update task_key k
    set generation = k.generation + 1, instance_id = g.id, outcome = null, revision = k.revision + 1, updated_at = :now,
        intent_version = coalesce(g.intent_version, k.intent_version),
        decisions = {recent_decisions} ||
                    (:note::jsonb || jsonb_build_object('at', g.at))
    from unnest(:shards::text::smallint[], :business_keys::text::text[], :from_generations::text::int[],
                :instance_ids::text::uuid[], :idem_keys::text::text[], :fire_times::text::timestamptz[],
                :payloads::text::jsonb[], :intent_versions::text::bigint[])
         as g(shard_id, business_key, after, id, idem_key, at, payload, intent_version)
    where k.shard_id = any(array[g.shard_id])
      and k.job_id = {batch_job}
      and k.business_key between g.business_key and g.business_key
      and k.tenant_id = :tenant_id and k.generation = g.after and k.outcome is not null
      and (g.intent_version is null or k.intent_version is null or k.intent_version < g.intent_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning k.shard_id, k.business_key, k.generation, k.instance_id, k.intent_version, k.revision,
              g.idem_key, g.at, g.payload),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, payload,
                               caller_trace)
    select shard_id, instance_id, :tenant_id, :job_id, :job_version, idem_key, at, greatest(at, :now::timestamptz),
           :now, :priority, 0, :slot_ms, :queue, 'INIT', business_key, generation, intent_version, payload,
           :caller_trace
    from authorised),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, instance_id, 'TASK_CREATED',
           :note::jsonb
           || jsonb_build_object('at', at, 'key', business_key, 'instance_id', instance_id, 'revision', revision)
    from authorised)
select business_key, instance_id, revision from authorised
