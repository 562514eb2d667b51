-- :shard :id :born :already :paced_to
-- Its own transaction has just moved it.
update backfill b
set born = b.born + :born, already = b.already + :already, paced_to = coalesce(:paced_to::timestamptz, b.paced_to)
where b.shard_id = :shard and b.id = :id
