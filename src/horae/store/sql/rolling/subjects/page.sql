-- :shards :job_id :tenant_id :after_key :limit :first_key :end_key
-- A page of a job's subjects in this cell in the order of their keys, after the last one seen: those from :first_key up
-- to :end_key.
select t.*
from unnest(:shards::smallint[]) as s(shard_id)
cross join lateral (
    select {subject_columns}, {subject_status} as status from subject u
    where u.shard_id = s.shard_id and u.job_id = :job_id and u.tenant_id = :tenant_id and u.key > :after_key
      and u.key >= :first_key and u.key < :end_key
    order by u.key
    limit :limit) t
order by t.key
limit :limit
