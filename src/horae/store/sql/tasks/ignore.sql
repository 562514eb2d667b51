-- Zero rows: something changed since the ledger was read, or the shard is closed. Decide again.
with remembered as (
    update task_key k
    set revision = k.revision + 1, updated_at = $7, intent_version = greatest(k.intent_version, $8::bigint),
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || $6::jsonb
    where k.shard_id = $1 and k.tenant_id = $2 and k.job_id = $3 and k.business_key = $4 and k.revision = $5
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning k.instance_id, k.revision),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $7, $1, $2, $3, null, 'TASK_IGNORED',
           $6::jsonb || jsonb_build_object('key', $4::text, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
