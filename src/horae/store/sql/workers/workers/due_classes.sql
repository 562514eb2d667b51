-- :tenant_id :queue :now :worker_id
-- One probe per class: what of this queue is due, and since when. A class without a row has nothing. One row without a
-- class: the worker is drained and gets nothing.
with drained as materialized (
    select from worker_drain d where d.tenant_id = :tenant_id and d.worker_id = :worker_id)
select null::int as priority, null::int as lane, null::timestamptz as due_at from drained
union all
select p.priority, n.lane, w.due_at
from generate_series(0, 2) as p(priority)
cross join generate_series(0, 2) as n(lane)
cross join lateral (
    select q.due_at from instance_live q
    where q.state in ('INIT', 'FAIL') and q.tenant_id = :tenant_id and q.queue = :queue
      and q.priority = p.priority and q.lane = n.lane and q.due_at <= :now
      and not exists (select from job pj where pj.status = 'PAUSED' and pj.tenant_id = q.tenant_id and pj.id = q.job_id)
      and not exists (select from reference pr where pr.kind = 'job' and pr.body ->> 'status' = 'PAUSED'
                        and pr.tenant_id = q.tenant_id and pr.id = q.job_id)
    order by q.due_at
    limit 1) w
where not exists (select from drained)
  and not exists (select from reference t          -- a tenant that is held gets nothing; asked once
                  where t.kind = 'tenant' and t.id = :tenant_id
                    and (t.body -> 'held' ->> 'status' in ('PAUSED', 'REMOVED') or t.body ? 'purged'))
