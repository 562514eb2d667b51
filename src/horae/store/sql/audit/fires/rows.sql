-- :job_ids :since :until :ended_since
-- One statement, one snapshot: a row on its way into history is in one of the two. History is read job by job, by its
-- index: as one list of jobs, it was read from end to end until the first analyze.
select l.job_id, l.id, l.fire_time, l.due_at, null::timestamptz, null::int, l.job_version, l.lane, l.state, null::text,
       null::timestamptz, l.retry_count, l.idem_key
from instance_live l
where l.job_id = any(:job_ids::uuid[]) and l.fire_time >= :since and l.fire_time < :until
union all
select d.*
from unnest(:job_ids::uuid[]) as g(job_id)
cross join lateral (
    select h.job_id, h.id, h.fire_time, h.due_at, h.range_to, h.range_count, h.job_version, h.lane, h.state, h.reason,
           h.ended_at, h.retry_count, h.idem_key
    from instance_history h
    where h.job_id between g.job_id and g.job_id and h.fire_time < :until and h.ended_at >= :ended_since
      and coalesce(h.range_to, h.fire_time) >= :since
    offset 0) d
