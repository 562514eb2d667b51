-- :shard :id :coordinator :now :ttl
-- Zero rows: another coordinator has the move, it is at another step, or the shard is not active here.
with move as materialized (
    select m.id from shard_move m
    where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator and m.step = 'FREEZE'
    for update),
closed as (
    update shard s set state = 'FROZEN', epoch = s.epoch + 1, owner = null
    from move
    where s.shard_id = :shard and s.state = 'ACTIVE'
    returning s.epoch)
update shard_move m
set step = 'WAIT', changed_at = :now, frozen_at = :now, source_epoch = closed.epoch,
    lease_until = :now::timestamptz + :ttl::interval
from closed
where m.shard_id = :shard and m.id = :id
returning {move_columns}
