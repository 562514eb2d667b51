-- :begin_times :tenant_ids :priorities :in_time_counts :late_counts :steps :oldest_times
-- Zero rows: all counts are older than what is kept. Each is added to its minute, its hour and its day, in an order that
-- all writers share.
insert into service_level as l (begins_at, in_time, late, tenant_id, step_minutes, priority)
select date_bin(s.step * interval '1 minute', g.begins_at, timestamptz 'epoch') as begins_at, sum(g.in_time),
       sum(g.late), g.tenant_id, s.step, g.priority
from unnest(:begin_times::timestamptz[], :tenant_ids::uuid[], :priorities::smallint[], :in_time_counts::bigint[],
            :late_counts::bigint[]) as g(begins_at, tenant_id, priority, in_time, late)
join unnest(:steps::smallint[], :oldest_times::timestamptz[]) as s(step, oldest) on g.begins_at >= s.oldest
group by g.tenant_id, s.step, 1, g.priority
order by g.tenant_id, s.step, 1, g.priority
on conflict (tenant_id, step_minutes, begins_at, priority) do update
set in_time = l.in_time + excluded.in_time, late = l.late + excluded.late
