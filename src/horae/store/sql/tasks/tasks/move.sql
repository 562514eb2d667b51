-- :shard :tenant_id :job_id :business_key :instance_id :fire_time :keep_payload :payload :intent_version :note :now :caller_trace
-- Zero rows: it runs, is gone, a newer intent was first, or the shard is closed. Read again and decide again.
-- The intent is guarded on the live row itself, so that a concurrent move is seen after waiting for its lock.
with moved as (
    update instance_live l
    set fire_time = :fire_time::timestamptz, due_at = greatest(:fire_time, :now::timestamptz), changed_at = :now,
        payload = case when :keep_payload then l.payload else :payload::jsonb end,
        lane = case when l.lane = 1 then 0 else l.lane end,  -- a new time is a new intent, not a retry
        intent_version = coalesce(:intent_version::bigint, l.intent_version), caller_trace = :caller_trace
    where l.shard_id = :shard and l.id = :instance_id and l.tenant_id = :tenant_id
      and l.state in ('INIT', 'FAIL', 'BLOCKED')
      and (:intent_version::bigint is null or l.intent_version is null or l.intent_version < :intent_version)
      and {fence}
    returning l.id, l.intent_version),
remembered as (
    update task_key k
    set revision = k.revision + 1, intent_version = moved.intent_version, updated_at = :now,
        decisions = {recent_decisions} || :note::jsonb
    from moved
    where k.shard_id = :shard and k.job_id = :job_id and k.business_key = :business_key
    returning k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, :shard, :tenant_id, :job_id, instance_id, 'TASK_MOVED',
           :note::jsonb
           || jsonb_build_object('key', :business_key::text, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
