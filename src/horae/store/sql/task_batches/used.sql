-- No row for a key: it has never been used there.
select k.business_key
from unnest($2::text::smallint[], $3::text::text[]) as g(shard_id, business_key)
join task_key k
    on k.shard_id = any(array[g.shard_id]) and k.job_id = $1
    and k.business_key between g.business_key and g.business_key
