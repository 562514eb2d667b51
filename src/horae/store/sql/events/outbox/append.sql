-- :now :shard :tenant_id :job_id :instance_id :event :body
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
values (:now, :shard, :tenant_id, :job_id, :instance_id, :event, :body)
