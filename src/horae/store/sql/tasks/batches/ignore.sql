-- :shards :business_keys :revisions :notes :tenant_id :job_id :now :intent_versions
-- No row for a key: something changed since its ledger was read, or its shard is closed. Decide those again.
with remembered as (
    update task_key k
    set revision = k.revision + 1, updated_at = :now, intent_version = greatest(k.intent_version, g.new_version),
        decisions = {recent_decisions} || g.note
    from unnest(:shards::text::smallint[], :business_keys::text::text[], :revisions::text::bigint[],
                :notes::text::jsonb[], :intent_versions::text::bigint[])
         as g(shard_id, business_key, revision, note, new_version)
    where k.shard_id = any(array[g.shard_id])
      and k.job_id = {batch_job}
      and k.business_key between g.business_key and g.business_key
      and k.tenant_id = :tenant_id and k.revision = g.revision
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning k.shard_id, k.business_key, k.instance_id, k.revision, g.note),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, null, 'TASK_IGNORED',
           note || jsonb_build_object('key', business_key, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
