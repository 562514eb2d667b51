-- :tenant_id :limit
-- How many attempts each worker of a tenant holds in this cell, by queue. No row: none. Of at most :limit attempts.
select r.queue, r.worker_id, count(*)::int as attempts
from (select l.queue, l.worker_id from instance_live l
      where l.state = 'RUNNING' and l.deadline > '-infinity' and l.tenant_id = :tenant_id
        and l.queue is not null and l.worker_id is not null
      limit :limit) r
group by r.queue, r.worker_id
