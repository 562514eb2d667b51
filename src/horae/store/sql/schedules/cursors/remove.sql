-- :shard :job_id
delete from job_cursor where shard_id = :shard and job_id = :job_id
