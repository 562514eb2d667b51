-- No row for a fire: it succeeded before (a deliberate re-run does not ask), or an instance under its key lives.
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, state)
select $1, g.id, $2, $3, $4, g.idem_key, g.fire_time, $5, $5, $6, 2, $7, $8, 'INIT'
from unnest($9::uuid[], $10::text[], $11::timestamptz[]) as g(id, idem_key, fire_time)
where $12 or not exists (select from instance_history h
                         where h.job_id = $3 and h.fire_time = g.fire_time and h.state = 'SUCCESS')
on conflict (idem_key, (shard_id::int)) where business_key is null do nothing
returning id
