-- :shard :id
-- Zero rows: there is no such move, or it has ended.
update shard_move m set abort_requested = true where m.shard_id = :shard and m.id = :id and m.ended_at is null
returning {move_columns}
