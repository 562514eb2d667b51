-- :shard :job_id :business_key
select decisions from task_key where shard_id = :shard and job_id = :job_id and business_key = :business_key
