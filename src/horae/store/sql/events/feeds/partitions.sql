-- :days
-- The summaries of the days around now, with how many pages each day has.
select i.indexrelid::regclass::text as summary,
       pg_relation_size(i.indrelid) / current_setting('block_size')::bigint as pages
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_am a on a.oid = c.relam and a.amname = 'brin'
join pg_inherits h on h.inhrelid = i.indrelid
where h.inhparent in ('instance_history'::regclass, 'outbox'::regclass)
  and right(i.indrelid::regclass::text, 8) = any(:days::text[])
