-- :job_id
-- The shards of this cell in which a type has keys.
select s.shard_id from shard s
where s.state = 'ACTIVE' and exists (select from task_key k where k.shard_id = s.shard_id and k.job_id = :job_id)
order by s.shard_id
