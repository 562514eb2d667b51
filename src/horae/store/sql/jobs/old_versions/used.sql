-- :shards :job_ids :versions
-- Fewer rows than asked: nothing in this cell refers to the others. A shard that moves counts: its rows may be on their way.
select w.shard_id, w.job_id, w.version
from unnest(:shards::smallint[], :job_ids::uuid[], :versions::int[]) as w(shard_id, job_id, version)
where exists (select from dead_letter d where d.job_id = w.job_id and d.job_version = w.version)
   or exists (select from shard s
              where s.state = 'FROZEN'
                 or exists (select from instance_live l
                            where l.shard_id = s.shard_id and l.job_id = w.job_id and l.business_key is not null
                              and l.job_version = w.version))
