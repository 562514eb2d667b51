-- :job_ids :since :until :ended_since
-- The rows of jobs as lists of times, in one snapshot. A list with is_plain false has rows that are judged one by one.
select r.job_id, r.job_version, r.state, r.is_plain, array_agg(r.fire_time)
from (
    select l.job_id, l.job_version, l.state, l.fire_time,
           l.lane < 2 and l.due_at >= l.fire_time and l.idem_key ~ '^[^:]*:[0-9][^:]*$' as is_plain
    from instance_live l
    where l.job_id = any(:job_ids::uuid[]) and l.fire_time >= :since and l.fire_time < :until
    union all
    select d.*
    from unnest(:job_ids::uuid[]) as g(job_id)
    cross join lateral (
        select h.job_id, h.job_version, h.state, h.fire_time,
               h.lane < 2 and h.due_at >= h.fire_time and h.range_to is null and h.reason is null
               and h.state <> 'SKIPPED' and h.idem_key ~ '^[^:]*:[0-9][^:]*$'
        from instance_history h
        where h.job_id between g.job_id and g.job_id and h.fire_time < :until and h.ended_at >= :ended_since
          and coalesce(h.range_to, h.fire_time) >= :since
        offset 0) d) r
group by r.job_id, r.job_version, r.state, r.is_plain
