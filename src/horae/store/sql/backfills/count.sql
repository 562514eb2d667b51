-- Its own transaction has just moved it.
update backfill b set born = b.born + $3, already = b.already + $4 where b.shard_id = $1 and b.id = $2
