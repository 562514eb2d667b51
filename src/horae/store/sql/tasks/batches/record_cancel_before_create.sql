-- :shards :business_keys :instance_ids :intent_versions :tenant_id :job_id :note :now :widenings
-- No row for a key: it was used meanwhile, its shard is closed, or the tenant was widened more often than :widenings.
-- Decide those again.
-- A key that was called off before anything else was heard of it: what was meant before that comes too late.
with remembered as (
    insert into task_key as k (shard_id, tenant_id, job_id, business_key, generation, instance_id, intent_version,
                               outcome, decisions, updated_at)
    select g.shard_id, :tenant_id, :job_id, g.business_key, 1, g.id, g.new_version, 'CANCELLED',
           jsonb_build_array(:note::jsonb), :now
    from unnest(:shards::text::smallint[], :business_keys::text::text[], :instance_ids::text::uuid[],
                :intent_versions::text::bigint[])
         as g(shard_id, business_key, id, new_version)
    where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
      and not exists (select from widening w where w.tenant_id = :tenant_id and w.number > :widenings for key share)
    on conflict (shard_id, job_id, business_key) do nothing
    returning k.shard_id, k.business_key, k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, null, 'TASK_IGNORED',
           :note::jsonb || jsonb_build_object('key', business_key, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
