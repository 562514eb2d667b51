-- :shard :id :born :already
-- Its own transaction has just moved it.
update backfill b set born = b.born + :born, already = b.already + :already where b.shard_id = :shard and b.id = :id
