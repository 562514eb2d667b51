-- :shards :job_id :after_key :last_key :limit
-- The live tasks of a type between two keys, in the order of their bytes. As many as asked for: there may be more.
select t.shard_id, t.id, t.business_key, t.fire_time, t.changed_at, t.intent_version, t.state, t.retry_count
from unnest(:shards::smallint[]) as s(shard_id)
cross join lateral (
    select l.shard_id, l.id, l.business_key, l.fire_time, l.changed_at, l.intent_version, l.state, l.retry_count
    from instance_live l
    where l.shard_id = s.shard_id and l.job_id = :job_id and l.business_key > :after_key and l.business_key <= :last_key
    order by l.business_key
    limit :limit) t
order by t.business_key
limit :limit
