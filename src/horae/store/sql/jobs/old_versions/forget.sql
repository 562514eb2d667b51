-- :shards :job_ids :versions
-- Fewer rows than asked: the others are gone already, or their shards are closed.
delete from job_version v
using unnest(:shards::smallint[], :job_ids::uuid[], :versions::int[]) as w(shard_id, job_id, version)
where v.shard_id = w.shard_id and v.job_id = w.job_id and v.version = w.version
  and not exists (select from shard s where s.shard_id = w.shard_id and s.state <> 'ACTIVE')
returning v.version
