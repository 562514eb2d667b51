-- :shard :job_id
-- Locked until the fire is decided: an end that comes meanwhile waits, and then sees what was decided.
select id, state from instance_live where shard_id = :shard and job_id = :job_id and exclusive order by id for update
