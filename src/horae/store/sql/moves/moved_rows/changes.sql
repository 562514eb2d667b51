-- :shard :horizon
-- How many rows every bucket has, the checksum of its keys, and the keys of its rows that were written at the horizon or
-- later. A row that is older than 2,000,000,000 transactions may be named as well.
select '{table}' as name, (e.hash & 1023)::int as bucket, count(*)::int as many, bit_xor(e.hash) as keys,
       array_agg(e.key) filter (where e.key is not null) as changed
from (select hash_record_extended(row(t."{key}"), 0) as hash,
             case when age(t.xmin) <= age(:horizon::text::xid)
                  then (select to_jsonb(own) from (select t."{key}") own)::text end as key
      from "{table}" t
      where t."{shard_column}" = :shard::int
      offset 0) e
group by bucket
