-- :shard :id :coordinator :target_epoch
-- Zero rows: another coordinator has the move.
update shard_move m
set target_epoch = :target_epoch
where m.shard_id = :shard and m.id = :id and m.coordinator = :coordinator
returning {move_columns}
