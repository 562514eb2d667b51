-- :shard :limit
-- The first rows of a shard in the order of their key, as the text of an array of rows, and the key of the last one if
-- there may be more.
with page as materialized (
    select t.* from "{table}" t where t."{shard_column}" = :shard::int order by t."{key}" limit :limit::int)
select count(*)::int as many, array_agg(page)::text as rows,
       (select to_jsonb(last) from (select t."{key}" from page t order by t."{key}" offset :limit::int - 1) last) as last
from page
