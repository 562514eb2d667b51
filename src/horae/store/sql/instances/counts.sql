-- What lives of a job in these shards, by state, at most $4 of it; a state without a row has none.
-- $5: the job is spread, so each of its rows has a key; they are found by it among all others of their shards.
select l.state, count(*)::int as many
from (select state from instance_live
      where $5 and shard_id = any($2::smallint[]) and job_id = $3 and business_key is not null and tenant_id = $1
      union all
      select state from instance_live where not $5 and shard_id = any($2::smallint[]) and job_id = $3 and tenant_id = $1
      limit $4) l
group by l.state
