-- :shard :tenant_id :job_id :business_key :instance_id :new_instance_id :fire_time :keep_payload :payload :intent_version :job_version :priority :slot_ms :note :now :queue :caller_trace
-- Zero rows: it no longer runs, a newer intent was first, or the shard is closed. Read again and decide again.
with stopped as (
    delete from instance_live l
    where l.shard_id = :shard and l.id = :instance_id and l.tenant_id = :tenant_id
      and l.state not in ('INIT', 'FAIL', 'BLOCKED')
      and (:intent_version::bigint is null or l.intent_version is null or l.intent_version < :intent_version)
      and {fence}
    returning l.*),
recorded as (
    insert into instance_history (ended_at, state, error_msg, generation, business_key, worker_id, {history_columns})
    select :now, 'CANCELLED', error_msg, generation, business_key, worker_id, {history_columns}
    from stopped),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version,
                               replay_of, payload, caller_trace)
    select shard_id, :new_instance_id, tenant_id, job_id, :job_version, idem_key, :fire_time::timestamptz,
           greatest(:fire_time, :now::timestamptz), :now, :priority, 0, :slot_ms, :queue, 'INIT', business_key,
           generation, coalesce(:intent_version::bigint, intent_version), replay_of,
           case when :keep_payload then payload else :payload::jsonb end, :caller_trace
    from stopped
    returning id, intent_version),
remembered as (
    update task_key k
    set revision = k.revision + 1, instance_id = inserted.id, intent_version = inserted.intent_version, updated_at = :now,
        decisions = {recent_decisions} || :note::jsonb
    from inserted
    where k.shard_id = :shard and k.job_id = :job_id and k.business_key = :business_key
    returning k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, :shard, :tenant_id, :job_id, instance_id, 'TASK_REPLACED',
           :note::jsonb
           || jsonb_build_object('key', :business_key::text, 'instance_id', instance_id,
                                 'replaced_id', :instance_id::uuid, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
