-- Zero rows: another node fired it, the job changed, or the shard is closed. Nothing was born then.
with moved as (
    update job_cursor c
    set next_fire_at = $5, fired = c.fired + 1
    -- Where it stood: at the fire's time, or at the time the fire was moved forward to.
    where c.priority = $16 and c.next_fire_at = any(array[least($4::timestamptz, $8::timestamptz)])
      and c.shard_id::int = any(array[$1::int]) and c.job_id between $2 and $2
      and c.version = $3
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning c.tenant_id, c.priority)
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, held_ms, exclusive, state, attempt, token, owner, deadline)
select $1::int, $6, tenant_id, $2, $3, $7, $4, $8, $14,
       priority, 0, $10, $11, $12, true, $15::text,
       case when $9::uuid is null then 0 else 1 end,
       $9,
       case when $9 is not null then $13::uuid end,
       case when $9 is not null then $14::timestamptz + $10::int * interval '1 ms' end
from moved
returning id
