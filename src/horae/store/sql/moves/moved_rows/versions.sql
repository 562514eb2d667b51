-- :shard
-- The checksum of keys and row versions of every bucket, as `digests` computes it. A bucket in which nothing was written
-- since has the same one.
select '{table}' as name, (e.hash & 1023)::int as bucket,
       bit_xor(hashint8extended(e.version::text::bigint, e.hash)) as version
from (select hash_record_extended(row(t."{key}"), 0) as hash, t.xmin as version
      from "{table}" t
      where t."{shard_column}" = :shard::int
      offset 0) e
group by bucket
