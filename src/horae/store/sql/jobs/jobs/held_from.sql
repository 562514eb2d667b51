-- :shard :id
select held_from from job where shard_id = :shard and id = :id
