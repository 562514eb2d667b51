-- No row for a subject: this batch does not hold it. Its own transaction has just occupied it.
with authorised as (
    update subject u
    set instance_id = g.id
    from unnest($1::text::smallint[], $2::text::text[], $3::text::uuid[], $4::text::text[], $5::text::timestamptz[])
         as g(shard_id, key, id, idem_key, due_at)
    where u.shard_id = any(array[g.shard_id]) and u.job_id = $6 and u.key between g.key and g.key
      and u.batch_no = $7                        -- nobody else has ever used this number
    returning g.shard_id, g.key, g.id, g.idem_key, g.due_at, u.tenant_id)
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, state, business_key, generation)
select shard_id, id, tenant_id, $6, $8, idem_key, $9, due_at, $10, $11, 0, $12, $13, 'INIT', key, 0
from authorised
returning id
