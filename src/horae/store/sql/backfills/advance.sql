-- Zero rows: another node moved it, it was cancelled, or the shard is closed. Nothing may be born then.
update backfill b
set cursor = $4, status = case when $4 >= b.range_to then 'DONE' else b.status end,
    ended_at = case when $4 >= b.range_to then $5::timestamptz end
where b.shard_id = $1 and b.id = $2 and b.cursor = $3 and b.status = 'RUNNING'
  and not exists (select from shard where shard_id = $1 and state <> 'ACTIVE')
returning b.status
