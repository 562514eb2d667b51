-- :incarnation :name :ttl :draining
-- At least one row. One per living node and per owner of shards, each with the clock's reading; the first renewal of an
-- incarnation does not see its own row. The database issues the term by its own clock, as `heartbeat` does. A node last
-- seen in the future is not alive: the clock was ahead then, and its term would last for as long as that was.
-- The reading is the last thing that is done: a node's clock is behind by whatever passes between it and its arrival.
with cell_clock as materialized (
    select clock_timestamp() as reading, offset_ms, vouches, (to_jsonb(c) ->> 'doubt_ms')::bigint as doubt_ms
    from clock_offset c limit 1),
term as materialized (
    select reading + offset_ms * interval '1 millisecond' as began from cell_clock),
beat as (
    insert into node (incarnation, name, started_at, seen_at, expires_at, draining)
    select :incarnation, :name, began, began, began + :ttl::interval, :draining from term
    on conflict (incarnation) do update
    set seen_at = excluded.seen_at, expires_at = excluded.expires_at, draining = excluded.draining),
living as materialized (
    select n.incarnation, n.draining, n.expires_at - term.began as remaining from node n, term
    where n.expires_at > term.began and n.seen_at < term.began + interval '5 seconds'),
owned as materialized (
    select owner, array_agg(shard_id) as shards from shard where state = 'ACTIVE' group by owner)
select clock_timestamp() as reading, cell_clock.offset_ms, cell_clock.vouches, cell_clock.doubt_ms, l.incarnation, l.draining,
       l.remaining, o.owner, o.shards, term.began as seen_at
from cell_clock cross join term left join (living l full join owned o on o.owner = l.incarnation) on true
