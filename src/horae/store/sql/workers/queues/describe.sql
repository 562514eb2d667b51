-- :tenant_id :queues :now :polled_after :counted :listed
-- A row for each of :queues: what waits for a worker in this cell, who polls, which jobs use it. What waits is counted
-- up to :counted in each class. Instances of paused jobs do not wait for a worker. A drained worker does not count.
select a.queue, w.waiting, w.oldest, w.is_more, p.polling, p.polled_at,
       array(select j.name from job j
             where j.tenant_id = :tenant_id and j.status <> 'REMOVED' and j.definition -> 'target' ->> 'kind' = 'queue'
               and (j.definition -> 'target' ->> 'name') collate "C" = a.queue
             order by (j.definition -> 'target' ->> 'name') collate "C", j.name collate "C"
             limit :listed) as jobs
from unnest(:queues::text[]) as a(queue)
cross join lateral (
    select coalesce(sum(k.many), 0)::int as waiting, min(k.oldest) as oldest,
           coalesce(bool_or(k.many >= :counted), false) as is_more
    from generate_series(0, 2) as c(priority)
    cross join generate_series(0, 2) as n(lane)
    cross join lateral (
        select count(*) as many, min(l.due_at) as oldest from (
            select q.due_at from instance_live q
            where q.state in ('INIT', 'FAIL') and q.tenant_id = :tenant_id and q.queue = a.queue
              and q.priority = c.priority and q.lane = n.lane and q.due_at <= :now
              and not exists (select from job pj
                              where pj.status = 'PAUSED' and pj.tenant_id = q.tenant_id and pj.id = q.job_id)
              and not exists (select from reference pr where pr.kind = 'job' and pr.body ->> 'status' = 'PAUSED'
                                and pr.tenant_id = q.tenant_id and pr.id = q.job_id)
            order by q.due_at
            limit :counted) l) k) w
cross join lateral (
    select count(*) filter (where b.polled_at > :polled_after and d.worker_id is null)::int as polling,
           max(b.polled_at) as polled_at
    from queue_worker b
    left join worker_drain d on d.tenant_id = b.tenant_id and d.worker_id = b.worker_id
    where b.tenant_id = :tenant_id and b.queue = a.queue) p
