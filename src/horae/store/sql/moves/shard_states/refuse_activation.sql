-- :shard :target_epoch
-- Zero rows: the shard is active here, or it was opened under this epoch and has moved on since. Then the move cannot be
-- aborted any more. A move out of this cell names the epoch of its freeze: one that came after the activation has a
-- larger epoch than the activation had.
update shard s set epoch = greatest(s.epoch, :target_epoch::bigint) + 1
where s.shard_id = :shard and s.state = 'ELSEWHERE'
  and not exists (
    select from shard_move m
    where m.shard_id = :shard and m.left_at is not null and m.source_epoch > :target_epoch::bigint)
returning s.epoch
