-- :shards :job_ids :versions :fire_times :next_fire_times :instance_ids :idem_keys :due_times :tokens :slots_ms :queues :holds_ms :owner :now :priority
-- No row for a fire: another node fired it, the job changed, or a shard is closed. Nothing was inserted then.
with moved as (
    update job_cursor c
    set next_fire_at = f.next_fire_at, fired = c.fired + 1
    from unnest(:shards::text::smallint[], :job_ids::text::uuid[], :versions::text::int[],
                :fire_times::text::timestamptz[], :next_fire_times::text::timestamptz[], :instance_ids::text::uuid[],
                :idem_keys::text::text[], :due_times::text::timestamptz[], :tokens::text::uuid[],
                :slots_ms::text::int[], :queues::text::text[], :holds_ms::text::int[])
         as f(shard_id, job_id, version, fire_time, next_fire_at, id, idem_key, due_at, token, slot_ms, queue, held_ms)
    -- Where it stood: at the fire's time, or at the time the fire was moved forward to.
    where c.priority = :priority and c.next_fire_at = any(array[least(f.fire_time, f.due_at)])
      and c.shard_id::int = any(array[f.shard_id::int]) and c.job_id between f.job_id and f.job_id
      and c.version = f.version
      and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
    returning f.shard_id, f.id, c.tenant_id, f.job_id, f.version, f.idem_key, f.fire_time, f.due_at,
              c.priority, f.token, f.slot_ms, f.queue, f.held_ms)
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, held_ms, state, attempt, token, owner, deadline)
select shard_id, id, tenant_id, job_id, version, idem_key, fire_time, due_at, :now,
       priority, 0, slot_ms, queue, held_ms,
       case when token is null then 'INIT' else 'RUNNING' end,
       case when token is null then 0 else 1 end,
       token,
       case when token is not null then :owner::uuid end,
       case when token is not null then :now::timestamptz + slot_ms * interval '1 ms' end
from moved
returning id
