-- :shard :id :tenant_id :job_id :tag :error_code :cause_id :most :pace :canary :max_failures :status :now :created_by
-- Zero rows: the shard is closed.
insert into paced_replay (shard_id, id, tenant_id, job_id, tag, error_code, cause_id, most, pace, canary, max_failures,
                          status, created_at, next_at, created_by)
select :shard, :id, :tenant_id, :job_id::uuid, :tag::text, :error_code::text, :cause_id::uuid, :most, :pace, :canary,
       :max_failures::int, :status, :now::timestamptz, :now, :created_by
where {fence}
returning id
