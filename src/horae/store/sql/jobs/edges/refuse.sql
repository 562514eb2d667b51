-- :shard :now :tenant_id :job_id :instance_id :body
-- Zero rows: the shard is closed; the refusal is recorded when the end is followed again.
insert into outbox (at, shard_id, tenant_id, job_id, instance_id, event, body)
select :now, :shard, :tenant_id, :job_id, :instance_id, 'JOB_START_REFUSED', :body
where {fence}
returning number
