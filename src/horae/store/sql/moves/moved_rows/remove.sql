-- :shard :keys
-- Fewer rows than keys: the others are gone already.
delete from "{table}" t
using jsonb_populate_recordset(null::"{table}", :keys::text::jsonb) a
where (t."{key}") = (a."{after}") and t."{shard_column}" = :shard::int
returning hash_record_extended(row(t."{key}"), 0) as hash
