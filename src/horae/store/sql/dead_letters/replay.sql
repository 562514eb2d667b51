-- No row for a letter: it is not NEW or DEAD_AGAIN any more, its key lives, succeeded or went on, an instance under its
-- idempotency key lives, or a shard is closed. Letter and key are locked before the birth, and change only with it.
-- Status and tenant are guarded in a form that no index matches: the planner would walk through all letters of a tenant.
with letters as materialized (
    select d.shard_id, d.instance_id, d.tenant_id, d.job_id, d.fire_time, d.idem_key, d.business_key, d.generation,
           d.payload, g.id, g.job_version, g.priority, g.slot_ms, g.queue
    from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::int[], $5::smallint[], $6::int[], $7::text[])
         as g(shard_id, instance_id, id, job_version, priority, slot_ms, queue)
    join dead_letter d
        on d.shard_id = any(array[g.shard_id]) and d.instance_id between g.instance_id and g.instance_id
    where (d.tenant_id = $8) is true and d.replay_status not in ('REPLAYING', 'REPLAYED', 'DISCARDED')
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    for update of d),
keys as materialized (
    select e.id, k.intent_version
    from letters e
    join task_key k
        on k.shard_id = any(array[e.shard_id]) and k.job_id = any(array[e.job_id])
           and k.business_key between e.business_key and e.business_key
    where k.generation = e.generation and k.outcome <> 'SUCCESS'
    for update of k),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version,
                               replay_of, payload, exclusive)
    select e.shard_id, e.id, e.tenant_id, e.job_id, e.job_version, e.idem_key, e.fire_time, $9::timestamptz, $9,
           e.priority, $10, e.slot_ms, e.queue, $12, e.business_key, e.generation, k.intent_version,
           e.instance_id, e.payload, $13
    from letters e
    left join keys k on k.id = e.id
    where e.business_key is null or k.id is not null
    on conflict do nothing
    returning shard_id, id, tenant_id, job_id, fire_time, business_key, replay_of),
marked as (
    update dead_letter d
    set replay_status = 'REPLAYING', replay_id = b.id
    from born b
    where d.shard_id = any(array[b.shard_id]) and d.instance_id between b.replay_of and b.replay_of),
remembered as (
    update task_key k
    set instance_id = b.id, outcome = null, revision = k.revision + 1, updated_at = $9,
        decisions = case when jsonb_array_length(k.decisions) >= 20 then k.decisions - 0 else k.decisions end
            || jsonb_build_object('decision', 'replayed', 'on', $9::timestamptz, 'by', $11::text, 'at', b.fire_time)
    from born b
    where b.business_key is not null
      and k.shard_id = any(array[b.shard_id]) and k.job_id = any(array[b.job_id])
      and k.business_key between b.business_key and b.business_key
    returning k.instance_id, k.revision),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $9, b.shard_id, b.tenant_id, b.job_id, b.id, 'INSTANCE_REPLAYED',
           jsonb_build_object('instance_id', b.id, 'replay_of', b.replay_of, 'key', b.business_key,
                              'revision', r.revision, 'by', $11::text)
    from born b
    left join remembered r on r.instance_id = b.id)
select replay_of, id from born
