-- :job_id :shards :business_keys
-- What is remembered of keys. No row for a key: it was never used. `limit 1` keeps the order of the joins, as in
-- tasks/batches/find.sql.
select k.business_key, k.generation, k.outcome, k.intent_version, k.updated_at
from unnest(:shards::text::smallint[], :business_keys::text::text[]) as g(shard_id, business_key)
cross join lateral (
    select t.business_key, t.generation, t.outcome, t.intent_version, t.updated_at
    from task_key t
    where t.shard_id = g.shard_id and t.job_id = :job_id and t.business_key = g.business_key
    limit 1) k
