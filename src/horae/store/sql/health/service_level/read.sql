-- :tenant_id :spans :steps :since_times
-- Zero rows: nothing was counted for this tenant, or for all (the nil UUID).
select w.span, l.priority, sum(l.in_time)::bigint as in_time, sum(l.late)::bigint as late
from unnest(:spans::text[], :steps::smallint[], :since_times::timestamptz[]) as w(span, step, since)
join service_level l on l.tenant_id = :tenant_id and l.step_minutes = w.step and l.begins_at >= w.since
group by w.span, l.priority
