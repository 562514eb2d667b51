-- How many of a backfill's instances live, counted no further than the limit.
select count(*)::int from (
    select from instance_live l
    where l.shard_id = $1 and l.job_id = $2 and l.lane = 2 and l.replay_of is null
      and l.fire_time >= $3 and l.fire_time < $4
    limit $5) w
