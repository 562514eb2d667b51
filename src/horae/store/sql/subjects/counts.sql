-- Zero rows: no subjects in these shards. How many last succeeded since which of the times $4 (0: before the first of them;
-- null: never), and how many of those are under way.
select width_bucket(u.last_success_at, $4::timestamptz[]) as age, count(*)::bigint as subjects,
       count(u.instance_id)::bigint as occupied
from subject u
where u.shard_id = any($1::smallint[]) and u.job_id = $2 and u.tenant_id = $3
group by age
