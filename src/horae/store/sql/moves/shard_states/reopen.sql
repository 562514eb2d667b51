-- :shard :id :coordinator :from_step :to_step :now
-- Zero rows: another coordinator has the move, or it is at another step. A shard that was not closed stays active.
with move as materialized (
    select m.source_epoch from shard_move m
    where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator and m.step = :from_step
    for update),
opened as (
    update shard s set state = 'ACTIVE', epoch = s.epoch + 1
    from move
    where s.shard_id = :shard and s.state = 'FROZEN' and s.epoch = move.source_epoch
    returning s.epoch)
update shard_move m
set step = :to_step, changed_at = :now, frozen_at = null, source_epoch = null
from move
where m.shard_id = :shard and m.id = :id
returning {move_columns}
