-- :shards :job_id :tenant_id :bounds
-- Zero rows: no subjects in these shards. How many last succeeded since which of the times :bounds (0: before the first
-- of them; null: never), and how many of those are under way.
select width_bucket(u.last_success_at, :bounds::timestamptz[]) as age, count(*)::bigint as subjects,
       count(u.instance_id)::bigint as occupied
from subject u
where u.shard_id = any(:shards::smallint[]) and u.job_id = :job_id and u.tenant_id = :tenant_id
group by age
