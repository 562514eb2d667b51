-- :shards :business_keys :instance_ids :states :attempts :intent_versions :tenant_id :job_id :note :now
-- No row for a key: it changed since it was read, a newer intent was first, or its shard is closed. Decide those again.
with stopped as (
    delete from instance_live l
    using unnest(:shards::text::smallint[], :business_keys::text::text[], :instance_ids::text::uuid[],
                 :states::text::text[], :attempts::text::int[], :intent_versions::text::bigint[])
          as g(shard_id, business_key, id, state, attempt, new_version)
    where l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id and l.tenant_id = :tenant_id
      and l.state = g.state and l.attempt = g.attempt
      and (g.new_version is null or l.intent_version is null or l.intent_version < g.new_version)
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning l.*, g.new_version),
recorded as (
    insert into instance_history (ended_at, state, error_msg, generation, business_key, worker_id, {history_columns})
    select :now, 'CANCELLED', error_msg, generation, business_key, worker_id, {history_columns}
    from stopped),
reopened as (                                    -- a replay that was cancelled: its letter waits again
    update dead_letter d
    set replay_status = 'NEW'
    from stopped e
    where {replayed_dead_letter}),
remembered as (
    update task_key k
    set revision = k.revision + 1, outcome = 'CANCELLED', intent_version = coalesce(g.new_version, k.intent_version),
        updated_at = :now,
        decisions = {recent_decisions} || :note::jsonb
    from stopped g
    where k.shard_id = any(array[g.shard_id])
      and k.job_id = {batch_job}
      and k.business_key between g.business_key and g.business_key
    returning k.shard_id, k.business_key, k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, instance_id, 'TASK_CANCELLED',
           :note::jsonb || jsonb_build_object('key', business_key, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select business_key, instance_id, revision from remembered
