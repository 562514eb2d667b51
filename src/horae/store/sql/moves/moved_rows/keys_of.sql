-- :shard :keys
-- Those of these keys that the shard has, each with its hash and the checksum of its row.
select (select to_jsonb(own) from (select t."{key}") own)::text as key,
       hash_record_extended(row(t."{key}"), 0) as hash, hash_record_extended(row(t."{columns}"), 0) as checksum
from jsonb_populate_recordset(null::"{table}", :keys::text::jsonb) a
join "{table}" t on (t."{key}") = (a."{after}")
where t."{shard_column}" = :shard::int
