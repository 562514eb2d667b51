-- :shard :tenant_id :job_id :business_key :instance_id :state :attempt :intent_version :note :now
-- Zero rows: it changed since it was read, a newer intent was first, or the shard is closed. Decide again.
with stopped as (
    delete from instance_live l
    where l.shard_id = :shard and l.id = :instance_id and l.tenant_id = :tenant_id and l.state = :state::text
      and l.attempt = :attempt
      and (:intent_version::bigint is null or l.intent_version is null or l.intent_version < :intent_version)
      and {fence}
    returning l.*),
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
    set revision = k.revision + 1, outcome = 'CANCELLED',
        intent_version = coalesce(:intent_version::bigint, k.intent_version), updated_at = :now,
        decisions = {recent_decisions} || :note::jsonb
    from stopped
    where k.shard_id = :shard and k.job_id = :job_id and k.business_key = :business_key
    returning k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, :shard, :tenant_id, :job_id, instance_id, 'TASK_CANCELLED',
           :note::jsonb
           || jsonb_build_object('key', :business_key::text, 'instance_id', instance_id, 'revision', revision)
    from remembered)
select instance_id, revision from remembered
