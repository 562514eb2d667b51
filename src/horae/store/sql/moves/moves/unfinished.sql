-- The moves out of this cell that have not ended, the oldest first.
select {move_columns} from shard_move m where m.ended_at is null order by m.requested_at, m.shard_id
