-- :shards :business_keys :instance_ids :idem_keys :fire_times :payloads :intent_versions :tenant_id :job_id :job_version :priority :slot_ms :queue :note :now :widenings :caller_trace
-- Zero rows: all were written. A row names a shard that is closed, or any shard where the tenant was widened more often
-- than :widenings; its keys were not written, decide them again.
-- A key that someone else used first is a unique violation, and then nothing was written: so what is inserted need not be
-- joined to what was authorised.
with fresh as materialized (
    select g.*, :note::jsonb || jsonb_build_object('at', g.at) as note
    from unnest(:shards::text::smallint[], :business_keys::text::text[], :instance_ids::text::uuid[],
                :idem_keys::text::text[], :fire_times::text::timestamptz[], :payloads::text::jsonb[],
                :intent_versions::text::bigint[])
         as g(shard_id, business_key, id, idem_key, at, payload, intent_version)
    where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
      and not exists (select from widening w where w.tenant_id = :tenant_id and w.number > :widenings for key share)),
authorised as (
    insert into task_key (shard_id, tenant_id, job_id, business_key, generation, instance_id, intent_version,
                          decisions, updated_at)
    select shard_id, :tenant_id, :job_id, business_key, 1, id, intent_version, jsonb_build_array(note), :now
    from fresh),
inserted as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, payload,
                               caller_trace)
    select shard_id, id, :tenant_id, :job_id, :job_version, idem_key, at, greatest(at, :now::timestamptz), :now,
           :priority, 0, :slot_ms, :queue, 'INIT', business_key, 1, intent_version, payload, :caller_trace
    from fresh),
events as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select :now, shard_id, :tenant_id, :job_id, id, 'TASK_CREATED',
           note || jsonb_build_object('key', business_key, 'instance_id', id, 'revision', 1)
    from fresh)
select shard_id from shard where shard_id = any(:shards::text::smallint[]) and state <> 'ACTIVE'
union all
select g.shard_id from unnest(:shards::text::smallint[]) as g(shard_id)
where exists (select from widening w where w.tenant_id = :tenant_id and w.number > :widenings)
