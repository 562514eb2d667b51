-- :shards
-- `table` is one of our own names. The rows that belong to some shards, as JSON.
select to_jsonb(t) as content from "{table}" t where t.shard_id = any(:shards::smallint[])
