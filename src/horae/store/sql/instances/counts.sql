-- What lives of a job in these shards, by state; a state without a row has none.
select l.state, count(*)::int as many
from instance_live l
where l.shard_id = any($2::smallint[]) and l.job_id = $3 and l.tenant_id = $1
group by l.state
