-- :job_id :aged_until :first_shard :last_shard :limit
-- How many subjects a tick may take in these shards, counted no further than the limit.
select count(*)::int from (
    select from subject u
    where u.job_id = :job_id and u.instance_id is null and u.aged_at <= :aged_until
      and u.shard_id::int between :first_shard and :last_shard
    limit :limit) e
