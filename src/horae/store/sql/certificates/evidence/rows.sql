-- :job_ids :since :until :ended_since
-- One statement, one snapshot: a row on its way into history is in one of the two. History is read job by job, by its
-- index.
select l.job_id, l.id, l.fire_time, l.due_at, l.job_version as version, l.lane, l.state, l.idem_key,
       null::timestamptz as range_to, null::int as range_count, null::text as reason, null::timestamptz as ended_at,
       l.retry_count, l.trigger_delay_ms as delay_ms, l.held_ms
from instance_live l
where l.job_id = any(:job_ids::uuid[]) and l.fire_time >= :since and l.fire_time < :until
union all
select d.*
from unnest(:job_ids::uuid[]) as g(job_id)
cross join lateral (
    select h.job_id, h.id, h.fire_time, h.due_at, h.job_version, h.lane, h.state, h.idem_key, h.range_to, h.range_count,
           h.reason, h.ended_at, h.retry_count, h.trigger_delay_ms, h.held_ms
    from instance_history h
    where h.job_id between g.job_id and g.job_id and h.fire_time < :until and h.ended_at >= :ended_since
      and coalesce(h.range_to, h.fire_time) >= :since
    offset 0) d
