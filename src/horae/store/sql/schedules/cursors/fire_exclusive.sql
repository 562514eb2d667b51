-- :shard :job_id :version :fire_time :next_fire_at :instance_id :idem_key :due_at :token :slot_ms :queue :held_ms :owner :now :state :priority
-- Zero rows: another node fired it, the job changed, or the shard is closed. Nothing was inserted then.
with moved as (
    update job_cursor c
    set next_fire_at = :next_fire_at, fired = c.fired + 1
    -- Where it stood: at the fire's time, or at the time the fire was moved forward to. The subselect is computed once:
    -- `least` as part of the condition made the due index cost as much as the primary key on an empty table.
    where c.priority = :priority
      and c.next_fire_at = any(array[(select least(:fire_time::timestamptz, :due_at::timestamptz))])
      and c.shard_id::int = any(array[:shard::int]) and c.job_id between :job_id and :job_id
      and c.version = :version
      and {fence}
    returning c.tenant_id, c.priority)
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, held_ms, exclusive, state, attempt, token, owner, deadline)
select :shard::int, :instance_id, tenant_id, :job_id, :version, :idem_key, :fire_time, :due_at, :now,
       priority, 0, :slot_ms, :queue, :held_ms, true, :state::text,
       case when :token::uuid is null then 0 else 1 end,
       :token,
       case when :token is not null then :owner::uuid end,
       case when :token is not null then :now::timestamptz + :slot_ms::int * interval '1 ms' end
from moved
returning id
