-- How many rows of each state some pages of one day have, and the sum of the last 64 bits of their ids. Read as
-- copy_rows reads them.
select state, count(*) as rows, sum(('x' || translate(right(id::text, 17), '-', ''))::bit(64)::bigint) as ids
from "{table}"
where ended_at >= '{begin}' and ended_at < '{end}'
  and ctid >= '({first_page},0)' and ctid < '({end_page},0)'
group by state
