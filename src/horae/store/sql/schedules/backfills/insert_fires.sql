-- :shard :tenant_id :job_id :job_version :now :priority :slot_ms :queue :instance_ids :idem_keys :fire_times :mode
-- No row for a fire: its mode leaves it out (`all` asks for nothing), or an instance under its key lives.
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, state)
select :shard, g.id, :tenant_id, :job_id, :job_version, g.idem_key, g.fire_time, :now, :now, :priority, 2, :slot_ms,
       :queue, 'INIT'
from unnest(:instance_ids::uuid[], :idem_keys::text[], :fire_times::timestamptz[]) as g(id, idem_key, fire_time)
where (:mode::text = 'all' or not exists (
          select from instance_history h
          where h.job_id = :job_id and h.fire_time = g.fire_time
            and (h.state = 'SUCCESS' or (h.state = 'DEAD' and :mode = 'missing'))))
  and (:mode <> 'failed' or exists (
          select from instance_history d
          where d.job_id = :job_id and d.fire_time = g.fire_time and d.state = 'DEAD'))
on conflict (idem_key, (shard_id::int)) where business_key is null do nothing
returning id
