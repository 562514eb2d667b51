-- :job_id :first_shard :last_shard :limit
-- How many subjects have a refresh under way in these shards, counted no further than the limit.
select count(*)::int from (
    select from subject u
    where u.job_id = :job_id and u.instance_id is not null and u.shard_id::int between :first_shard and :last_shard
    limit :limit) o
