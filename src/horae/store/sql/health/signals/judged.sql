-- :minute :rates_since
-- Zero rows: nothing was counted. The signals of each tenant that measures judge: delays with the time at gates and
-- dead runs of one minute, and the ended runs of the minutes since :rates_since.
with delayed as (
    select b.tenant_id, array_agg(b.fires order by b.bucket) as delays
    from (select s.tenant_id, d.bucket, sum(coalesce(d.fires, 0) + coalesce(d.shift, 0))::int as fires
          from signal s
          cross join lateral unnest(s.delays, s.gate_shifts) with ordinality as d(fires, shift, bucket)
          where s.minute = :minute
          group by s.tenant_id, d.bucket) b
    group by b.tenant_id)
select s.tenant_id, (select d.delays from delayed d where d.tenant_id = s.tenant_id) as delays,
       sum(s.success)::int as succeeded, sum(s.dead)::int as died,
       coalesce(sum(s.dead) filter (where s.minute = :minute), 0)::int as died_in_minute,
       coalesce(sum(s.retry_backlog) filter (where s.minute = :minute), 0)::int as retry_backlog,
       avg(s.load) filter (where s.minute = :minute) as load
from signal s
where s.minute > :rates_since and s.minute <= :minute
group by s.tenant_id
