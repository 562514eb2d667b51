-- :shards :job_ids
-- Zero rows: nothing waits behind these jobs' fires. Locked, so that of two ends at once the second sees the first.
select l.shard_id, l.id
from unnest(:shards::smallint[], :job_ids::uuid[]) as ended(shard_id, job_id)
join instance_live l on l.shard_id = any(array[ended.shard_id]) and l.job_id = any(array[ended.job_id])
where l.exclusive and l.state = 'BLOCKED'
for update of l
