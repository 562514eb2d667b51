-- :shard :tenant_id :job_id :business_key :revision :note :now :intent_version
-- Zero rows: something changed since the ledger was read, or the shard is closed. Decide again.
with remembered as (
    update task_key k
    set revision = k.revision + 1, updated_at = :now,
        intent_version = greatest(k.intent_version, :intent_version::bigint),
        decisions = {recent_decisions} || :note::jsonb
    where k.shard_id = :shard and k.tenant_id = :tenant_id and k.job_id = :job_id and k.business_key = :business_key
      and k.revision = :revision
      and {fence}
    returning k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, :shard, :tenant_id, :job_id, null, 'TASK_IGNORED',
           :note::jsonb || jsonb_build_object('key', :business_key::text, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
