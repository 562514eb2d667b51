-- :shard :id :coordinator :now
-- Zero rows: another coordinator has the move, or it is at another step.
with move as materialized (
    select m.frozen_at from shard_move m
    where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator and m.step = 'ACTIVATE'
    for update),
gone as (
    update shard s set state = 'ELSEWHERE', epoch = s.epoch + 1, owner = null
    from move
    where s.shard_id = :shard and s.state = 'FROZEN')
update shard_move m
set step = 'DELETE', changed_at = :now, left_at = m.frozen_at,
    pause_ms = (extract(epoch from :now::timestamptz - m.frozen_at) * 1000)::int
from move
where m.shard_id = :shard and m.id = :id
returning {move_columns}
