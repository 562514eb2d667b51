-- :job_id :limit
-- Fewer rows than the limit: no more versions of subjects of this set are in this cell.
with old as materialized (
    select k.shard_id, k.key
    from shard s cross join lateral (
        select t.shard_id, t.key from subject_version t
        where t.shard_id = s.shard_id and t.job_id = :job_id limit :limit) k
    where s.state = 'ACTIVE'
    limit :limit)
delete from subject_version t using old
where t.shard_id = old.shard_id and t.job_id = :job_id and t.key = old.key
  and not exists (select from shard s where s.shard_id = old.shard_id and s.state <> 'ACTIVE')
returning t.shard_id
