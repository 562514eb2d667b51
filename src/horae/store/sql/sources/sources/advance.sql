-- :shard :id :step :after_key :cursor :next_at :counts :ended :failures :error :now :kept_rounds
-- Zero rows: someone else has written to it since it was read, or the shard is closed. What was repaired stays so.
with moved as (
    update source s
    set step = s.step + 1, after_key = :after_key, cursor = :cursor, next_at = :next_at, running = not :ended,
        failures = :failures
    where s.shard_id = :shard and s.id = :id and s.step = :step
      and {fence}
    returning s.*),
events as (
    update source_round r
    set counts = :counts, error = :error, status = case when :ended then 'DONE' else r.status end,
        ended_at = case when :ended then :now::timestamptz end
    from moved m
    where r.shard_id = m.shard_id and r.source_id = m.id and r.number = m.round and r.status = 'RUNNING'),
old as (
    delete from source_round r using moved m
    where r.shard_id = m.shard_id and r.source_id = m.id and r.number <= m.round - :kept_rounds::int and :ended)
select * from moved
