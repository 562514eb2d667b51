-- :shard :id :from_cursor :to_cursor :now
-- Zero rows: another node moved it, it was cancelled, or the shard is closed. Nothing may be inserted then.
update backfill b
set cursor = :to_cursor, status = case when :to_cursor >= b.range_to then 'DONE' else b.status end,
    ended_at = case when :to_cursor >= b.range_to then :now::timestamptz end
where b.shard_id = :shard and b.id = :id and b.cursor = :from_cursor and b.status = 'RUNNING'
  and {fence}
returning b.status
