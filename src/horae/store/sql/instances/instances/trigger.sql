-- :shard :instance_id :tenant_id :job_id :job_version :idem_key :fire_time :due_at :now :priority :slot_ms :queue :payload :state :exclusive :caller_trace
-- Zero rows: an instance under this key still lives, although the request that made it is forgotten.
insert into instance_live (shard_id, id, tenant_id, job_id, job_version, idem_key, fire_time, due_at, changed_at,
                           priority, lane, slot_ms, queue, payload, state, exclusive, caller_trace)
values (:shard, :instance_id, :tenant_id, :job_id, :job_version, :idem_key, :fire_time, :due_at, :now, :priority, 0,
        :slot_ms, :queue, :payload, :state, :exclusive, :caller_trace)
on conflict (idem_key, (shard_id::int)) where business_key is null do nothing
returning id
