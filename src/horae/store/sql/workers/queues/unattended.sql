-- :after_tenant_id :after_queue :limit :waiting_before :polled_before
-- A page of all queues of this cell in which something is due or will be, by tenant and name. `oldest` is given where
-- work has waited since :waiting_before, no worker has polled since :polled_before, and no worker holds an attempt. A
-- drained worker does not count.
with recursive found as (
    (select q.tenant_id, q.queue from instance_live q
     where q.state in ('INIT', 'FAIL') and q.queue is not null
       and (q.tenant_id, q.queue) > (:after_tenant_id::uuid, :after_queue)
     order by q.tenant_id, q.queue
     limit 1)
    union all
    select n.tenant_id, n.queue from found f
    cross join lateral (
        select q.tenant_id, q.queue from instance_live q
        where q.state in ('INIT', 'FAIL') and q.queue is not null and (q.tenant_id, q.queue) > (f.tenant_id, f.queue)
        order by q.tenant_id, q.queue
        limit 1) n),
claimed as materialized (
    select distinct l.tenant_id, l.queue from instance_live l
    where l.state = 'RUNNING' and l.deadline > '-infinity' and l.queue is not null)
select a.tenant_id, a.queue, w.oldest
from (select f.tenant_id, f.queue from found f limit :limit) a
left join lateral (
    select min(k.due_at) as oldest
    from generate_series(0, 2) as c(priority)
    cross join generate_series(0, 2) as n(lane)
    cross join lateral (
        select q.due_at from instance_live q
        where q.state in ('INIT', 'FAIL') and q.tenant_id = a.tenant_id and q.queue = a.queue
          and q.priority = c.priority and q.lane = n.lane and q.due_at <= :waiting_before
          and not exists (select from job pj
                          where pj.status = 'PAUSED' and pj.tenant_id = q.tenant_id and pj.id = q.job_id)
          and not exists (select from reference pr where pr.kind = 'job' and pr.body ->> 'status' = 'PAUSED'
                            and pr.tenant_id = q.tenant_id and pr.id = q.job_id)
        order by q.due_at
        limit 1) k
    where not exists (select from queue_worker w
                      where w.tenant_id = a.tenant_id and w.queue = a.queue and w.polled_at > :polled_before
                        and not exists (select from worker_drain x
                                        where x.tenant_id = w.tenant_id and x.worker_id = w.worker_id))
      and not exists (select from claimed d where d.tenant_id = a.tenant_id and d.queue = a.queue)
      and not exists (select from reference t
                      where t.kind = 'tenant' and t.id = a.tenant_id
                        and (t.body -> 'held' ->> 'status' in ('PAUSED', 'REMOVED') or t.body ? 'purged'))) w on true
order by a.tenant_id, a.queue
