-- How many subjects a tick may take in these shards, counted no further than the limit.
select count(*)::int from (
    select from subject u
    where u.job_id = $1 and u.instance_id is null and u.aged_at <= $2 and u.shard_id::int between $3 and $4
    limit $5) e
