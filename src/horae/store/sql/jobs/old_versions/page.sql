-- :after_shard :after_job_id :after_version :before :kept :limit
-- Fewer rows than the limit: the walk is at its end. A cursor, an instance or a dead letter may refer to a version.
with page as materialized (
    select v.shard_id, v.job_id, v.version from job_version v
    where (v.shard_id, v.job_id, v.version) > (:after_shard::smallint, :after_job_id::uuid, :after_version::int)
    order by v.shard_id, v.job_id, v.version limit :limit)
select p.shard_id, p.job_id, p.version,
       exists (select from job_version n
               where n.shard_id = p.shard_id and n.job_id = p.job_id and n.version > p.version and n.created_at < :before)
   and exists (select from job_version n
               where n.shard_id = p.shard_id and n.job_id = p.job_id and n.version >= p.version + :kept::int)
   and exists (select from job j where j.shard_id = p.shard_id and j.id = p.job_id and j.version <> p.version)
   and not exists (select from job_cursor c
                   where c.shard_id = p.shard_id and c.job_id = p.job_id and c.version = p.version)
   and not exists (select from instance_live l
                   where l.shard_id = p.shard_id and l.job_id = p.job_id and l.job_version = p.version)
   and not exists (select from shard s where s.shard_id = p.shard_id and s.state <> 'ACTIVE') as unused
from page p
order by p.shard_id, p.job_id, p.version
