-- How many subjects have a refresh under way in these shards, counted no further than the limit.
select count(*)::int from (
    select from subject u
    where u.job_id = $1 and u.instance_id is not null and u.shard_id::int between $2 and $3
    limit $4) o
