-- :shards :ids :now
-- Fewer rows than asked: those were paused, removed or completed meanwhile.
update job j
set status = 'COMPLETED', changed_at = :now
from unnest(:shards::smallint[], :ids::uuid[]) as f(shard_id, job_id)
where j.shard_id = any(array[f.shard_id]) and j.id between f.job_id and f.job_id and j.status = 'ACTIVE'
  and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
returning j.id
