-- Locked until the fire is decided: an end that comes meanwhile waits, and then sees what was decided.
select id, state from instance_live where shard_id = $1 and job_id = $2 and exclusive order by id for update
