-- :shards :job_id :tenant_id :after_key :limit :first_key :end_key
-- A page of a job's subjects in this cell in the order of their keys, after the last one seen: those from :first_key up
-- to :end_key.
select t.key, t.added_at, t.started_at, t.finished_at, t.last_success_at, t.batch_no, t.remark, t.instance_id
from unnest(:shards::smallint[]) as s(shard_id)
cross join lateral (
    select u.* from subject u
    where u.shard_id = s.shard_id and u.job_id = :job_id and u.tenant_id = :tenant_id and u.key > :after_key
      and u.key >= :first_key and u.key < :end_key
    order by u.key
    limit :limit) t
order by t.key
limit :limit
