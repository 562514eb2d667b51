-- :shard :keys
-- The rows with these keys, as the text of an array of rows; null: there is none.
select array_agg(t)::text as rows
from jsonb_populate_recordset(null::"{table}", :keys::text::jsonb) a
join "{table}" t on (t."{key}") = (a."{after}")
where t."{shard_column}" = :shard::int
