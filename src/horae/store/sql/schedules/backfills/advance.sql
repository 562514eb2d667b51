-- :shard :id :from_cursor :from_upper :to_cursor :to_upper :now
-- Zero rows: another node moved it, it was paused or cancelled, or the shard is closed. Nothing may be inserted then.
update backfill b
set cursor = :to_cursor, decided_from = case when b.decided_from is not null then :to_upper::timestamptz end,
    status = case when :to_cursor >= :to_upper then 'DONE' else b.status end,
    ended_at = case when :to_cursor >= :to_upper then :now::timestamptz end
where b.shard_id = :shard and b.id = :id and b.cursor = :from_cursor
  and coalesce(b.decided_from, b.range_to) = :from_upper and b.status = 'RUNNING'
  and {fence}
returning b.status
