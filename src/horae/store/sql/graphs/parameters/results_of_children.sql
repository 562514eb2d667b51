-- :shards :run_ids :positions :since :max_bytes :bytes_per_value
-- No row for a child: it returned nothing. A body is null if the results of its step are too large together.
select g.run_id, g.position, r.number, r.instance_id, r.body
from unnest(:shards::smallint[], :run_ids::uuid[], :positions::smallint[]) as g(shard_id, run_id, position)
cross join lateral (
    select h.number, h.instance_id,
           case when sum(pg_column_size(i.body)) over () <= :max_bytes::bigint + :bytes_per_value::bigint * count(*) over ()
                then i.body end as body
    from graph_child h
    join instance_result i on i.shard_id = any(array[h.shard_id])
                          and i.instance_id between h.instance_id and h.instance_id and i.ended_at >= :since
    where h.shard_id = any(array[g.shard_id]) and h.run_id between g.run_id and g.run_id and h.position = g.position
      and h.state = 'SUCCESS') r
