-- :shards :instance_ids :replay_ids :job_versions :priorities :slots_ms :queues :tenant_id :now :lane :actor :state :exclusive :edited_payload
-- No row for a dead letter: it is not NEW or DEAD_AGAIN any more, its key lives, succeeded or went on, an instance under
-- its idempotency key lives, or a shard is closed. Dead letter and key are locked before the insert, and change only
-- with it.
-- Status and tenant are guarded in a form that no index matches: the planner would walk through all dead letters of a
-- tenant.
with chosen as materialized (
    select d.shard_id, d.instance_id, d.tenant_id, d.job_id, d.fire_time, d.idem_key, d.business_key, d.generation,
           d.payload, g.id, g.job_version, g.priority, g.slot_ms, g.queue
    from unnest(:shards::smallint[], :instance_ids::uuid[], :replay_ids::uuid[], :job_versions::int[],
                :priorities::smallint[], :slots_ms::int[], :queues::text[])
         as g(shard_id, instance_id, id, job_version, priority, slot_ms, queue)
    join dead_letter d
        on d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
    where (d.tenant_id = :tenant_id) is true and d.replay_status not in ('REPLAYING', 'REPLAYED', 'DISCARDED')
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    for update of d),
keys as materialized (
    select e.id, k.intent_version
    from chosen e
    join task_key k
        on k.shard_id = any(array[e.shard_id]) and k.job_id = any(array[e.job_id])
           and k.business_key between e.business_key and e.business_key
    where k.generation = e.generation and k.outcome <> 'SUCCESS'
    for update of k),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version,
                               replay_of, payload, exclusive)
    select e.shard_id, e.id, e.tenant_id, e.job_id, e.job_version, e.idem_key, e.fire_time, :now::timestamptz, :now,
           e.priority, :lane, e.slot_ms, e.queue, :state, e.business_key, e.generation, k.intent_version,
           e.instance_id, coalesce(:edited_payload::jsonb, e.payload), :exclusive
    from chosen e
    left join keys k on k.id = e.id
    where e.business_key is null or k.id is not null
    on conflict do nothing
    returning shard_id, id, tenant_id, job_id, fire_time, business_key, replay_of),
marked as (
    update dead_letter d
    set replay_status = 'REPLAYING', replay_id = b.id, paced_replay_id = null,
        payload = coalesce(:edited_payload, d.payload)
    from inserted b
    where d.shard_id = any(array[b.shard_id]) and d.instance_id between b.replay_of and b.replay_of),
remembered as (
    update task_key k
    set instance_id = b.id, outcome = null, revision = k.revision + 1, updated_at = :now,
        decisions = {recent_decisions}
            || jsonb_build_object('decision', 'replayed', 'on', :now::timestamptz, 'by', :actor::text,
                                  'at', b.fire_time)
    from inserted b
    where b.business_key is not null
      and k.shard_id = any(array[b.shard_id]) and k.job_id = any(array[b.job_id])
      and k.business_key between b.business_key and b.business_key
    returning k.instance_id, k.revision),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, b.shard_id, b.tenant_id, b.job_id, b.id, 'INSTANCE_REPLAYED',
           jsonb_build_object('instance_id', b.id, 'replay_of', b.replay_of, 'key', b.business_key,
                              'revision', r.revision, 'by', :actor::text)
    from inserted b
    left join remembered r on r.instance_id = b.id)
select replay_of, id from inserted
