-- :job_id :shards :business_keys
-- What is remembered of keys. No row for a key: it was never used.
select k.business_key, k.generation, k.outcome, k.intent_version, k.updated_at
from unnest(:shards::text::smallint[], :business_keys::text::text[]) as g(shard_id, business_key)
join task_key k
    on k.shard_id = any(array[g.shard_id])
    and k.job_id = any(array[case when g.shard_id is not null then :job_id::uuid end])
    and k.business_key between g.business_key and g.business_key
