-- No row for a key: something changed since its ledger was read, or its shard is closed. Decide those again.
with remembered as (
    update task_key k
    set revision = k.revision + 1, updated_at = $7, intent_version = greatest(k.intent_version, g.new_version),
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end || g.note
    from unnest($1::text::smallint[], $2::text::text[], $3::text::bigint[], $4::text::jsonb[], $8::text::bigint[])
         as g(shard_id, business_key, revision, note, new_version)
    where k.shard_id = any(array[g.shard_id]) and k.job_id = $6
      and k.business_key between g.business_key and g.business_key
      and k.tenant_id = $5 and k.revision = g.revision
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning k.shard_id, k.business_key, k.instance_id, k.revision, g.note),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $7, shard_id, $5, $6, null, 'TASK_IGNORED',
           note || jsonb_build_object('key', business_key, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
