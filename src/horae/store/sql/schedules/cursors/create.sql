-- :shard :job_id :tenant_id :version :priority :next_fire_at
insert into job_cursor (shard_id, job_id, tenant_id, version, priority, next_fire_at)
values (:shard, :job_id, :tenant_id, :version, :priority, :next_fire_at)
