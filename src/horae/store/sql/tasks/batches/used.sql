-- :job_id :shards :business_keys
-- No row for a key: it has never been used there. `limit 1` keeps the order of the joins, as in find.sql.
select k.business_key
from unnest(:shards::text::smallint[], :business_keys::text::text[]) as g(shard_id, business_key)
cross join lateral (
    select t.business_key from task_key t
    where t.shard_id = g.shard_id and t.job_id = :job_id and t.business_key = g.business_key
    limit 1) k
