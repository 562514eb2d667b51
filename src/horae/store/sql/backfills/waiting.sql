-- How many of a backfill's instances live, counted no further than the limit. A re-run's keys end with its letters ($6).
select count(*)::int from (
    select from instance_live l
    where l.shard_id = $1 and l.job_id = $2 and l.lane = 2 and l.replay_of is null
      and l.fire_time >= $3 and l.fire_time < $4 and split_part(l.idem_key, ':', 3) = $6
    limit $5) w
