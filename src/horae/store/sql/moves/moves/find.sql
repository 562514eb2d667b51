-- :shard :id
-- Zero rows: no such move began in this cell.
select {move_columns} from shard_move m where m.shard_id = :shard and m.id = :id
