-- :job_id :shards :business_keys
-- No row for a key: it has never been used there.
select k.business_key
from unnest(:shards::text::smallint[], :business_keys::text::text[]) as g(shard_id, business_key)
join task_key k
    on k.shard_id = any(array[g.shard_id]) and k.job_id = :job_id
    and k.business_key between g.business_key and g.business_key
