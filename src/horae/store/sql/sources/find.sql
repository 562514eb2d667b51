-- Zero rows: this type has no source.
select s.* from source s where s.shard_id = $1 and s.job_id = $2 and s.tenant_id = $3
