-- :shard
-- The rows of a shard in 1,024 buckets by key: how many a bucket has, the checksum of its keys, and that of its rows.
-- Without `offset 0` whole rows would be sorted, not two numbers.
select '{table}' as name, (e.hash & 1023)::int as bucket, count(*)::int as many, bit_xor(e.hash) as keys,
       bit_xor(e.checksum) as checksum
from (select hash_record_extended(row(t."{key}"), 0) as hash, hash_record_extended(row(t."{columns}"), 0) as checksum
      from "{table}" t
      where t."{shard_column}" = :shard::int
      offset 0) e
group by bucket
