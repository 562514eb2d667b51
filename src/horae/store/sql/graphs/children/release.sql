-- :shards :run_ids :positions :numbers :instance_ids :tenant_ids :job_ids :job_versions :idem_keys :fire_times :priorities :slots_ms :queues :payloads :now
-- No row for a child: it was released or ended meanwhile, or a shard is closed. The same transaction holds its run.
with authorised as (
    update graph_child t
    set state = 'RELEASED', instance_id = g.id, changed_at = :now, reason = null
    from unnest(:shards::text::smallint[], :run_ids::text::uuid[], :positions::text::smallint[], :numbers::text::int[],
                :instance_ids::text::uuid[], :tenant_ids::text::uuid[], :job_ids::text::uuid[],
                :job_versions::text::int[], :idem_keys::text::text[], :fire_times::text::timestamptz[],
                :priorities::text::smallint[], :slots_ms::text::int[], :queues::text::text[], :payloads::text::jsonb[])
         as g(shard_id, run_id, position, number, id, tenant_id, job_id, job_version, idem_key, fire_time, priority,
              slot_ms, queue, payload)
    where t.shard_id = any(array[g.shard_id]) and t.run_id = g.run_id and t.position = g.position
      and t.number = g.number                    -- no range before the number: it would read the whole run
      and t.instance_id is null and t.state <> 'CANCELLED'  -- it waits, said so that no index of waiting ones is read
      and not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
    returning g.shard_id, g.id, g.tenant_id, g.job_id, g.job_version, g.idem_key, g.fire_time, g.priority, g.slot_ms,
              g.queue, g.payload)
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, payload, state)
select shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, :now, :now, priority, 0, slot_ms, queue,
       payload, 'INIT'
from authorised
on conflict (idem_key, (shard_id::int)) where business_key is null do nothing
returning id
