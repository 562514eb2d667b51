-- :shards :ids
-- Fewer rows than given: a job is gone, or its shard has moved.
select {audited_job}
from unnest(:shards::smallint[], :ids::uuid[]) as g(shard_id, id)
join job j on j.shard_id = g.shard_id and j.id = g.id
left join job_cursor c on c.shard_id = j.shard_id and c.job_id = j.id
where exists (select from shard s where s.shard_id = j.shard_id and s.state = 'ACTIVE')
