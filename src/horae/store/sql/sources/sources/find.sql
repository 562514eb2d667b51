-- :shard :job_id :tenant_id
-- Zero rows: this type has no source.
select s.* from source s where s.shard_id = :shard and s.job_id = :job_id and s.tenant_id = :tenant_id
