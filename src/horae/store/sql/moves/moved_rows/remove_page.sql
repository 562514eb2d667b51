-- :shard :limit
-- Zero rows: nothing of the shard is left in this table.
with gone as materialized (
    select t.ctid from "{table}" t where t."{shard_column}" = :shard::int limit :limit)
delete from "{table}" t using gone where t.ctid = gone.ctid
returning 1
