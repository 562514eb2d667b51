-- :jump :now
-- Zero rows: nothing was moving. The epoch of a closed shard has jumped: the move knows it by the new one.
update shard_move m
set abort_requested = true, coordinator = null, lease_until = :now, changed_at = :now,
    source_epoch = m.source_epoch + :jump
where m.ended_at is null and m.step not in ('DELETE', 'CLEAN')
returning m.shard_id
