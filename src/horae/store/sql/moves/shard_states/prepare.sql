-- :shard :source_epoch
-- Zero rows: the shard is active here, or a move of it out of this cell has not ended. Otherwise the epoch under which
-- the coordinator may write. An earlier coordinator has a smaller one, so its statements find nothing.
update shard s set epoch = greatest(s.epoch, :source_epoch::bigint) + 1
where s.shard_id = :shard and s.state = 'ELSEWHERE'
  and not exists (select from shard_move m where m.shard_id = :shard and m.ended_at is null)
returning s.epoch
