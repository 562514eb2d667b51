-- The shards that have left this cell, and until when the last stay of each lasted.
select m.shard_id, max(m.left_at) as left_at from shard_move m where m.left_at is not null group by m.shard_id
