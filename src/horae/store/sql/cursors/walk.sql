-- No row for a cursor: another node moved it, the job changed, or a shard is closed. Nothing of it was born or told then.
with moved as (
    update job_cursor c
    set next_fire_at = m.next_fire_at, fired = c.fired + m.fired
    from unnest($1::smallint[], $2::uuid[], $3::int[], $4::timestamptz[], $5::timestamptz[], $6::int[])
         as m(shard_id, job_id, version, stood_at, next_fire_at, fired)
    where c.priority = $23 and c.next_fire_at = any(array[m.stood_at])
      and c.shard_id::int = any(array[m.shard_id::int]) and c.job_id between m.job_id and m.job_id
      and c.version = m.version
      and not exists (select from shard s where s.shard_id = m.shard_id and s.state <> 'ACTIVE')
    returning m.shard_id, m.job_id, m.version, c.tenant_id, c.priority),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, held_ms, state)
    select moved.shard_id, f.id, moved.tenant_id, moved.job_id, moved.version, f.idem_key, f.fire_time, f.due_at, $22,
           moved.priority, 0, f.slot_ms, f.queue, f.held_ms, 'INIT'
    from unnest($7::uuid[], $8::uuid[], $9::text[], $10::timestamptz[], $11::timestamptz[], $12::int[], $13::text[],
                $14::int[])
         as f(job_id, id, idem_key, fire_time, due_at, slot_ms, queue, held_ms)
    join moved on moved.job_id = f.job_id),
told as (
    insert into instance_history (ended_at, fire_time, due_at, range_to, range_count, job_version, attempt, retry_count,
                                  shard_id, priority, lane, id, tenant_id, job_id, state, reason, idem_key)
    select $22, k.fire_time, k.fire_time, k.range_to, k.range_count, moved.version, 0, 0,
           moved.shard_id, moved.priority, 0, k.id, moved.tenant_id, moved.job_id, 'SKIPPED', k.reason, k.idem_key
    from unnest($15::uuid[], $16::uuid[], $17::text[], $18::timestamptz[], $19::timestamptz[], $20::int[], $21::text[])
         as k(job_id, id, idem_key, fire_time, range_to, range_count, reason)
    join moved on moved.job_id = k.job_id)
select job_id from moved
