-- :shards :run_ids :positions :concurrencies :limit
-- One row for each step. Children that succeeded are not read.
select g.run_id, g.position, c.live::int, c.failed::int, w.numbers
from unnest(:shards::smallint[], :run_ids::uuid[], :positions::smallint[], :concurrencies::int[])
     as g(shard_id, run_id, position, concurrency)
cross join lateral (
    select count(*) filter (where h.state = 'RELEASED') as live, count(*) filter (where h.state <> 'RELEASED') as failed
    from graph_child h
    where h.shard_id = g.shard_id and h.run_id = g.run_id and h.position = g.position
      and h.state <> 'SUCCESS' and h.state = any(array['RELEASED', 'DEAD', 'CANCELLED'])) c
cross join lateral (
    select array(select h.number from graph_child h
                 where h.shard_id = g.shard_id and h.run_id = g.run_id and h.position = g.position
                   and h.state = 'WAITING' and h.state <> 'SUCCESS'
                 order by h.number
                 limit greatest(0, least(:limit::bigint, g.concurrency - c.live))) as numbers) w
