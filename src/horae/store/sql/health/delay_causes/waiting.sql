-- :now :limit
-- Zero rows: nothing is due. Due instances of each shard, counted class by class, no further than the limit.
select w.shard_id, count(*)::int as waiting
from generate_series(0, 2) as p(priority)
cross join generate_series(0, 2) as n(lane)
cross join lateral (
    select i.shard_id from instance_live i
    where i.state in ('INIT', 'FAIL') and i.queue is null and i.priority = p.priority and i.lane = n.lane
      and i.due_at <= :now
    order by i.due_at limit :limit) w
group by w.shard_id
