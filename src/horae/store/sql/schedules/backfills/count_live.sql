-- :shard :job_id :range_from :range_to :limit :key_suffix
-- How many of a backfill's instances live, counted no further than the limit. A re-run's keys end with its id
-- (:key_suffix).
select count(*)::int from (
    select from instance_live l
    where l.shard_id = :shard and l.job_id = :job_id and l.lane = 2 and l.replay_of is null
      and l.fire_time >= :range_from and l.fire_time < :range_to and split_part(l.idem_key, ':', 3) = :key_suffix
    limit :limit) w
