-- :shard :buckets
-- The keys of some buckets, each with its hash and the checksum of its row.
select (select to_jsonb(own) from (select t."{key}") own)::text as key,
       hash_record_extended(row(t."{key}"), 0) as hash, hash_record_extended(row(t."{columns}"), 0) as checksum
from "{table}" t
where t."{shard_column}" = :shard::int
  and (hash_record_extended(row(t."{key}"), 0) & 1023)::int = any(:buckets::int[])
