-- :shards :job_ids :versions :stood_times :next_fire_times :fire_counts :fire_job_ids :fire_ids :fire_idem_keys :fire_times :fire_due_times :fire_slots_ms :fire_queues :fire_holds_ms :skip_job_ids :skip_ids :skip_idem_keys :skip_times :skip_range_ends :skip_range_counts :skip_reasons :now :priority
-- No row for a cursor: another node moved it, the job changed, or a shard is closed. Nothing of it was
-- inserted or written to the outbox then.
with moved as (
    update job_cursor c
    set next_fire_at = m.next_fire_at, fired = c.fired + m.fired
    from unnest(:shards::smallint[], :job_ids::uuid[], :versions::int[], :stood_times::timestamptz[],
                :next_fire_times::timestamptz[], :fire_counts::int[])
         as m(shard_id, job_id, version, stood_at, next_fire_at, fired)
    where c.priority = :priority and c.next_fire_at = any(array[m.stood_at])
      and c.shard_id::int = any(array[m.shard_id::int]) and c.job_id between m.job_id and m.job_id
      and c.version = m.version
      and not exists (select from shard s where s.shard_id = m.shard_id and s.state <> 'ACTIVE')
    returning m.shard_id, m.job_id, m.version, c.tenant_id, c.priority),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, held_ms, state)
    select moved.shard_id, f.id, moved.tenant_id, moved.job_id, moved.version, f.idem_key, f.fire_time, f.due_at, :now,
           moved.priority, 0, f.slot_ms, f.queue, f.held_ms, 'INIT'
    from unnest(:fire_job_ids::uuid[], :fire_ids::uuid[], :fire_idem_keys::text[], :fire_times::timestamptz[],
                :fire_due_times::timestamptz[], :fire_slots_ms::int[], :fire_queues::text[], :fire_holds_ms::int[])
         as f(job_id, id, idem_key, fire_time, due_at, slot_ms, queue, held_ms)
    join moved on moved.job_id = f.job_id),
events as (
    insert into instance_history (ended_at, fire_time, due_at, range_to, range_count, job_version, attempt, retry_count,
                                  shard_id, priority, lane, id, tenant_id, job_id, state, reason, idem_key)
    select :now, k.fire_time, k.fire_time, k.range_to, k.range_count, moved.version, 0, 0,
           moved.shard_id, moved.priority, 0, k.id, moved.tenant_id, moved.job_id, 'SKIPPED', k.reason, k.idem_key
    from unnest(:skip_job_ids::uuid[], :skip_ids::uuid[], :skip_idem_keys::text[], :skip_times::timestamptz[],
                :skip_range_ends::timestamptz[], :skip_range_counts::int[], :skip_reasons::text[])
         as k(job_id, id, idem_key, fire_time, range_to, range_count, reason)
    join moved on moved.job_id = k.job_id)
select job_id from moved
