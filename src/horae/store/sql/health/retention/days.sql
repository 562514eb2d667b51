-- :now
-- Each day up to today that has a table or an archive, the oldest first. `bytes`: its tables of history, events and
-- results; null: they are dropped.
with stored as (
    select to_date(right(c.relname, 8), 'YYYYMMDD') as day, sum(pg_total_relation_size(c.oid))::bigint as bytes
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('instance_history'::regclass, 'outbox'::regclass, 'instance_result'::regclass)
      and right(c.relname, 8) <= to_char(:now::timestamptz at time zone 'UTC', 'YYYYMMDD')
      and pg_relation_size(c.oid) > 0
    group by 1)
select coalesce(s.day, a.day) as day, s.bytes, a.state, a.rows as archived_rows, a.bytes as archived_bytes,
       a.archived_at, a.dropped_at
from stored s
full join archived_day a on a.day = s.day
where s.day is not null or a.state <> 'CLOSING'
order by 1
