-- :shards :ids :change_times
-- No row for a task: it changed since it was compared, or someone is changing it now. They know better than a list.
with same as materialized (
    select l.id
    from unnest(:shards::smallint[], :ids::uuid[], :change_times::timestamptz[]) as g(shard_id, id, changed_at)
    join instance_live l on l.shard_id = any(array[g.shard_id]) and l.id between g.id and g.id
    where l.changed_at = g.changed_at
    for update of l skip locked)
select id from same
