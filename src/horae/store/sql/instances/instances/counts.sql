-- :tenant_id :shards :job_id :limit :spread
-- What lives of a job in these shards, by state, at most :limit of it; a state without a row has none.
-- :spread: the job is spread, so each of its rows has a key; they are found by it among all others of their shards.
select l.state, count(*)::int as many
from (select state from instance_live
      where :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id and business_key is not null
        and tenant_id = :tenant_id
      union all
      select state from instance_live
      where not :spread and shard_id = any(:shards::smallint[]) and job_id = :job_id and tenant_id = :tenant_id
      limit :limit) l
group by l.state
