-- :cell
-- Zero rows: no shard was moving into the restored cell. The rows that the cell had of a moving shard may be lost.
update shard_move m set abort_requested = true
where m.target = :cell and m.ended_at is null and m.step not in ('DELETE', 'CLEAN')
returning m.shard_id
