-- Zero rows: someone else has written to it since it was read, or the shard is closed. What was repaired stays so.
with moved as (
    update source s
    set step = s.step + 1, after_key = $4, cursor = $5, next_at = $6, running = not $8, failures = $9
    where s.shard_id = $1 and s.id = $2 and s.step = $3
      and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
    returning s.*),
told as (
    update source_round r
    set counts = $7, error = $10, status = case when $8 then 'DONE' else r.status end,
        ended_at = case when $8 then $11::timestamptz end
    from moved m
    where r.shard_id = m.shard_id and r.source_id = m.id and r.number = m.round and r.status = 'RUNNING'),
old as (
    delete from source_round r using moved m
    where r.shard_id = m.shard_id and r.source_id = m.id and r.number <= m.round - $12::int and $8)
select * from moved
