-- :shard :limit :after
-- The rows of a shard after a key, as `first_page` returns them. The lateral query lets the key's index begin there.
with page as materialized (
    select found.* from jsonb_populate_record(null::"{table}", :after::jsonb) a
    cross join lateral (
        select t.* from "{table}" t
        where t."{shard_column}" = :shard::int and (t."{key}") > (a."{after}")
        order by t."{key}" limit :limit::int) found)
select count(*)::int as many, array_agg(page)::text as rows,
       (select to_jsonb(last) from (select t."{key}" from page t order by t."{key}" offset :limit::int - 1) last) as last
from page
