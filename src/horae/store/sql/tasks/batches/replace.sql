-- :shards :business_keys :instance_ids :new_instance_ids :keep_payloads :fire_times :payloads :intent_versions :tenant_id :job_id :job_version :priority :slot_ms :queue :note :now :caller_trace
-- No row for a key: it no longer runs, a newer intent was first, or its shard is closed. Read and decide those again.
with stopped as (
    delete from instance_live l
    using unnest(:shards::text::smallint[], :business_keys::text::text[], :instance_ids::text::uuid[],
                 :new_instance_ids::text::uuid[], :keep_payloads::text::boolean[], :fire_times::text::timestamptz[],
                 :payloads::text::jsonb[], :intent_versions::text::bigint[])
          as g(shard_id, business_key, id, new_id, keep, at, new_payload, new_version)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id and l.tenant_id = :tenant_id
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and (g.new_version is null or l.intent_version is null or l.intent_version < g.new_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.*, g.new_id, g.at, coalesce(g.new_version, l.intent_version) as kept_version,
              case when g.keep then l.payload else g.new_payload end as kept_payload),
recorded as (
    insert into instance_history (ended_at, state, error_msg, generation, business_key, worker_id, {history_columns})
    select :now, 'CANCELLED', error_msg, generation, business_key, worker_id, {history_columns}
    from stopped),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version,
                               replay_of, payload, caller_trace)
    select shard_id, new_id, tenant_id, job_id, :job_version, idem_key, at, greatest(at, :now::timestamptz), :now,
           :priority, 0, :slot_ms, :queue, 'INIT', business_key, generation, kept_version, replay_of, kept_payload,
           :caller_trace
    from stopped),
remembered as (
    update task_key k
    set revision = k.revision + 1, instance_id = g.new_id, intent_version = g.kept_version, updated_at = :now,
        decisions = {recent_decisions} ||
                    (:note::jsonb || jsonb_build_object('at', g.at))
    from stopped g
    where k.shard_id = any(array[g.shard_id])
      and k.job_id = {batch_job}
      and k.business_key between g.business_key and g.business_key
    returning k.shard_id, k.business_key, k.instance_id, k.revision, g.id as replaced_id, g.at),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, instance_id, 'TASK_REPLACED',
           :note::jsonb || jsonb_build_object('at', at, 'key', business_key, 'instance_id', instance_id,
                                            'replaced_id', replaced_id, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
