-- :shards :business_keys :instance_ids :keep_payloads :fire_times :payloads :intent_versions :tenant_id :job_id :note :now :caller_trace
-- No row for a key: it runs, is gone, a newer intent was first, or its shard is closed. Read and decide those again.
-- The intent is guarded on the live row itself, so that a concurrent move is seen after waiting for its lock.
with moved as (
    update instance_live l
    set fire_time = g.at, due_at = greatest(g.at, :now::timestamptz), changed_at = :now,
        payload = case when g.keep then l.payload else g.payload end,
        lane = case when l.lane = 1 then 0 else l.lane end,  -- a new time is a new intent, not a retry
        intent_version = coalesce(g.intent_version, l.intent_version), caller_trace = :caller_trace
    from unnest(:shards::text::smallint[], :business_keys::text::text[], :instance_ids::text::uuid[],
                :keep_payloads::text::boolean[], :fire_times::text::timestamptz[], :payloads::text::jsonb[],
                :intent_versions::text::bigint[])
         as g(shard_id, business_key, id, keep, at, payload, intent_version)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id and l.tenant_id = :tenant_id
      and l.state in ('INIT', 'FAIL', 'BLOCKED')
      and (g.intent_version is null or l.intent_version is null or l.intent_version < g.intent_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.shard_id, g.business_key, l.intent_version, l.fire_time as at),
remembered as (
    update task_key k
    set revision = k.revision + 1, intent_version = g.intent_version, updated_at = :now,
        decisions = {recent_decisions} ||
                    (:note::jsonb || jsonb_build_object('at', g.at))
    from moved g
    where k.shard_id = any(array[g.shard_id])
      and k.job_id = {batch_job}
      and k.business_key between g.business_key and g.business_key
    returning k.shard_id, k.business_key, k.instance_id, k.revision, g.at),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, instance_id, 'TASK_MOVED',
           :note::jsonb
           || jsonb_build_object('at', at, 'key', business_key, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
