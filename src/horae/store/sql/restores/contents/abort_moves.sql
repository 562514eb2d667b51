-- :now
-- Zero rows: nothing was moving.
update shard_move m set abort_requested = true, coordinator = null, lease_until = :now, changed_at = :now
where m.ended_at is null and m.step not in ('DELETE', 'CLEAN')
returning m.shard_id
