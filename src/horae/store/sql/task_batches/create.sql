-- Zero rows: all were written. A row names a shard that is closed, or any shard where the tenant was widened more often
-- than $16; its keys were not written, decide them again.
-- A key that someone else used first is a unique violation, and then nothing was written: so what is born need not be
-- joined to what was authorised.
with fresh as materialized (
    select g.*, $14::jsonb || jsonb_build_object('at', g.at) as note
    from unnest($1::text::smallint[], $2::text::text[], $3::text::uuid[], $4::text::text[],
                $5::text::timestamptz[], $6::text::jsonb[], $7::text::bigint[])
         as g(shard_id, business_key, id, idem_key, at, payload, intent_version)
    where not exists (select from shard s where s.shard_id = g.shard_id and s.state <> 'ACTIVE')
      and not exists (select from widening w where w.tenant_id = $8 and w.number > $16 for key share)),
authorised as (
    insert into task_key (shard_id, tenant_id, job_id, business_key, generation, instance_id, intent_version,
                          decisions, updated_at)
    select shard_id, $8, $9, business_key, 1, id, intent_version, jsonb_build_array(note), $15
    from fresh),
born as (
    insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                               priority, lane, slot_ms, queue, state, business_key, generation, intent_version, payload)
    select shard_id, id, $8, $9, $10, idem_key, at, greatest(at, $15::timestamptz), $15,
           $11, 0, $12, $13, 'INIT', business_key, 1, intent_version, payload
    from fresh),
told as (
    insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
    select $15, shard_id, $8, $9, id, 'TASK_CREATED',
           note || jsonb_build_object('key', business_key, 'instance_id', id, 'revision', 1)
    from fresh)
select shard_id from shard where shard_id = any($1::text::smallint[]) and state <> 'ACTIVE'
union all
select g.shard_id from unnest($1::text::smallint[]) as g(shard_id)
where exists (select from widening w where w.tenant_id = $8 and w.number > $16)
