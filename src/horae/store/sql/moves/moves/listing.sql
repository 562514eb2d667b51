-- :limit
-- The moves out of this cell: those that have not ended, then the newest.
select {move_columns} from shard_move m order by m.ended_at is not null, m.changed_at desc, m.shard_id limit :limit
