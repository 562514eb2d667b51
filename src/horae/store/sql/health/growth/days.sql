-- :now
select to_date(right(c.relname, 8), 'YYYYMMDD') as day,
       sum(case when pg_relation_size(c.oid) > 0 then pg_total_relation_size(c.oid) else 0 end)::bigint as bytes
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent in ('instance_history'::regclass, 'outbox'::regclass, 'instance_result'::regclass)
  and right(c.relname, 8) <= to_char(:now::timestamptz at time zone 'UTC', 'YYYYMMDD')
group by 1
order by 1
