-- How many subjects a set has in some shards of this cell, how many succeeded since a time, how many are under way.
select count(*)::bigint as subjects, count(*) filter (where u.last_success_at >= $4)::bigint as fresh,
       count(*) filter (where u.instance_id is not null)::bigint as occupied
from subject u
where u.shard_id = any($1::smallint[]) and u.job_id = $2 and u.tenant_id = $3
