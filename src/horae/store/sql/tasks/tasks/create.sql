-- :shard :tenant_id :job_id :business_key :from_generation :instance_id :idem_key :fire_time :payload :intent_version :job_version :priority :slot_ms :note :now :queue :widenings :caller_trace
-- Zero rows: the key's generation is no longer :from_generation, a newer intent was first, the tenant was widened more
-- often than :widenings, or the shard is closed. Decide again.
with authorised as (
    insert into task_key as k (shard_id, tenant_id, job_id, business_key, generation, instance_id, intent_version,
                               decisions, updated_at)
    select :shard, :tenant_id, :job_id, :business_key, :from_generation::int + 1, :instance_id, :intent_version::bigint,
           jsonb_build_array(:note::jsonb), :now
    where {fence}
      and not exists (select from widening w where w.tenant_id = :tenant_id and w.number > :widenings for key share)
    on conflict (shard_id, job_id, business_key) do update
    set generation = excluded.generation, instance_id = excluded.instance_id, outcome = null,
        intent_version = coalesce(excluded.intent_version, k.intent_version), revision = k.revision + 1,
        decisions = {recent_decisions} || :note::jsonb,
        updated_at = excluded.updated_at
    where k.generation = :from_generation and k.outcome is not null
      and (excluded.intent_version is null or k.intent_version is null or k.intent_version < excluded.intent_version)
    returning k.shard_id, k.tenant_id, k.job_id, k.business_key, k.generation, k.instance_id, k.intent_version,
              k.revision),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, payload,
                               caller_trace)
    select shard_id, instance_id, tenant_id, job_id, :job_version, :idem_key, :fire_time::timestamptz,
           greatest(:fire_time, :now::timestamptz), :now, :priority, 0, :slot_ms, :queue, 'INIT', business_key,
           generation, intent_version, :payload, :caller_trace
    from authorised),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, tenant_id, job_id, instance_id, 'TASK_CREATED',
           :note::jsonb || jsonb_build_object('key', business_key, 'instance_id', instance_id, 'revision', revision)
    from authorised)
select instance_id, revision from authorised
