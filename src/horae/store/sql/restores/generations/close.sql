-- :reason :generation
-- Zero rows: the cell is closed already, or was opened with a newer generation.
-- Every shard is frozen, so that transactions that are under way find it closed, too.
with closed as (
    update cell_generation g set closed_reason = :reason
    where g.closed_reason is null and g.generation = :generation
    returning g.generation),
frozen as (
    update shard s set state = 'FROZEN', epoch = s.epoch + 1, owner = null
    from closed
    where s.state = 'ACTIVE')
select generation from closed
