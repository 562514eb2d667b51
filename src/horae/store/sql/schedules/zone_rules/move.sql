-- :shards :job_ids :versions :stood_times :wake_times :priority
-- No row for a cursor: it has fired since it was read, the job was changed, or a shard is closed. Read again.
update job_cursor c
set next_fire_at = f.wake
from unnest(:shards::smallint[], :job_ids::uuid[], :versions::int[], :stood_times::timestamptz[],
            :wake_times::timestamptz[])
     as f(shard_id, job_id, version, stood_at, wake)
-- By the due index, as it is fired.
where c.priority = :priority and c.next_fire_at = any(array[f.stood_at])
  and c.shard_id::int = any(array[f.shard_id::int]) and c.job_id between f.job_id and f.job_id
  and c.version = f.version
  and not exists (select from shard s where s.shard_id = f.shard_id and s.state <> 'ACTIVE')
returning c.job_id
