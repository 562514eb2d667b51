-- :shard :buckets
-- The rows of a shard in 1,024 buckets by key: how many a bucket has, its checksum, and the checksum of its keys and row
-- versions. All buckets where none are named. Without `offset 0` whole rows would be sorted, not three numbers.
select (e.hash & 1023)::int as bucket, count(*)::int as many, bit_xor(e.checksum) as checksum,
       bit_xor(hashint8extended(e.version::text::bigint, e.hash)) as version
from (select hash_record_extended(row(t."{key}"), 0) as hash, t.xmin as version,
             hash_record_extended(row(t."{columns}"), 0) as checksum
      from "{table}" t
      where t."{shard_column}" = :shard::int
        and (:buckets::int[] is null or (hash_record_extended(row(t."{key}"), 0) & 1023)::int = any(:buckets))
      offset 0) e
group by bucket
