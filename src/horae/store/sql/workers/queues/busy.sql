-- :tenant_ids :queues
-- Of some queues those of which a worker holds an attempt in this cell. No row: no worker does.
select distinct l.tenant_id, l.queue
from instance_live l
join unnest(:tenant_ids::uuid[], :queues::text[]) as a(tenant_id, queue)
    on a.tenant_id = l.tenant_id and a.queue = l.queue
where l.state = 'RUNNING' and l.deadline > '-infinity'
