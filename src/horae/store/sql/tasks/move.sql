-- Zero rows: it runs, is gone, a newer intent was first, or the shard is closed. Read again and decide again.
-- The intent is guarded on the live row itself, so that a concurrent move is seen after waiting for its lock.
with moved as (
    update instance_live l
    set fire_time = $6::timestamptz, due_at = greatest($6, $11::timestamptz), changed_at = $11,
        payload = case when $7 then l.payload else $8::jsonb end,
        lane = case when l.lane = 1 then 0 else l.lane end,  -- a new time is a new intent, not a retry
        intent_version = coalesce($9::bigint, l.intent_version)
    where l.shard_id = $1 and l.id = $5 and l.tenant_id = $2
      and l.state in ('INIT', 'FAIL', 'BLOCKED')
      and ($9::bigint is null or l.intent_version is null or l.intent_version < $9)
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning l.id, l.intent_version),
remembered as (
    update task_key k
    set revision = k.revision + 1, intent_version = moved.intent_version, updated_at = $11,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || $10::jsonb
    from moved
    where k.shard_id = $1 and k.job_id = $3 and k.business_key = $4
    returning k.instance_id, k.revision),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $11, $1, $2, $3, instance_id, 'TASK_MOVED',
           $10::jsonb || jsonb_build_object('key', $4::text, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
