-- :incarnation :name :ttl :draining
-- Always one row. An expired incarnation may come back: what it owned may have been taken meanwhile.
-- The database issues the term by its own clock, so that nobody's reading is compared with another's. A column that a
-- cell has not been given yet is read as null.
with cell_clock as materialized (
    select clock_timestamp() as reading, offset_ms, vouches, (to_jsonb(c) ->> 'doubt_ms')::bigint as doubt_ms
    from clock_offset c),
term as (
    select reading + offset_ms * interval '1 millisecond' as began from cell_clock),
beat as (
    insert into node (incarnation, name, started_at, seen_at, expires_at, draining)
    select :incarnation, :name, began, began, began + :ttl::interval, :draining from term
    on conflict (incarnation) do update
    set seen_at = excluded.seen_at, expires_at = excluded.expires_at, draining = excluded.draining)
select reading, offset_ms, vouches, doubt_ms from cell_clock
